// `-o json` has one shape for each noun, whatever the command and whatever the state of the batch.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { begin } from '../../src/batch/state/state.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { spendInFull } from '../../src/batch/state/put-row.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { batchJson } from '../../src/cli/json/batch-json.ts';
import { NOUNS, type Noun } from './nouns.ts';
import { poolJson } from '../../src/cli/json/documents.ts';
import { problemJson } from '../../src/cli/json/problem.ts';
import { shaped } from '../../src/cli/json/shape.ts';
import { scheduleJson } from '../../src/cli/schedule/schedule-text.ts';
import { statusFromFolder, shownProgress } from '../../src/library/handle/batch-status.ts';
import { readSummary } from '../../src/results/summary.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { paramsOf } from '../batch/params.ts';
import { World } from '../batch/world.ts';
import { Console } from '../console/console.ts';
import { endBatch } from '../console/ended-batch.ts';
import { definitionOf } from '../schedule/definition.ts';
import { contradictions } from './schemas.ts';

const SHEET = 'prompt,seed\na,1\nb,18446744073709551615\nc,3\n';

/** A batch that has ended, one that no server runs, and one that was never started. */
async function threeBatches(): Promise<Console> {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', SHEET);
  await endBatch(await console.batch(sheet, 'done'));
  await endBatch(await console.batch(sheet, 'open'), false);
  await console.batch(sheet, 'new');
  const stages = [{ name: 'drafts' }, { name: 'finals', from: 'drafts', pick: true }];
  const pipeline = {
    pipeline: 'poster',
    mark: '0011223344556677',
    createdAt: '2026-11-26T00:00:00.000Z',
    stages,
  };
  mkdirSync(join(console.folder, 'batches', 'poster'), { recursive: true });
  console.write('batches/poster/pipeline.json', JSON.stringify(pipeline));
  return console;
}

/** With the exit code, if it does not depend on the machine. */
const COMMANDS: readonly (readonly [noun: Noun, line: string, exit?: number | 'any'])[] = [
  ['batch', 'status done'],
  ['batch', 'status open'],
  ['batch', 'status new'],
  ['batch', 'list'],
  ['batch', 'wait done', 3],
  ['batch', 'follow done', 3],
  ['batch', 'run sheet.csv -d portraits --name done', 3],
  ['batch', 'submit sheet.csv -d portraits --name done'],
  ['batch', 'pause done'],
  ['batch', 'pause new'],
  ['batch', 'scale done -c 3', 2],
  ['batch', 'cancel done'],
  ['batch', 'resume done'],
  ['batch', 'retry new'],
  ['batch', 'retry done --outcome refused'],
  ['row', 'show done 1'],
  ['row', 'show done 3'],
  ['row', 'show new 2'],
  ['row', 'rows done'],
  ['row', 'rows new'],
  ['row', 'results open'],
  ['event', 'events done'],
  ['event', 'events new'],
  ['plan', 'plan sheet.csv -d portraits --again -c 3 --max-cost 5 --fail-after 5%'],
  ['plan', 'plan sheet.csv -d portraits'],
  ['plan', 'plan sheet.csv --into done'],
  ['pipeline', 'pipeline'],
  ['pipeline', 'pipeline show poster'],
  ['deployment', 'deployments'],
  ['deployment', 'deployments portraits'],
  ['problem', 'deployments portrait', 5],
  ['comparison', 'compare done open', 0],
  ['verification', 'verify done', 1],
  ['cleanup', 'clean --older-than 0s'],
  ['check', 'doctor', 'any'],
  ['migration', 'migrate-check -d portraits --no-run'],
  ['problem', 'status nothing', 2],
  ['problem', 'run nowhere.csv -d portraits', 5],
  ['problem', 'show done 7', 2],
  ['problem', 'run wrong.csv -d portraits', 5],
  ['problem', 'run sheet.csv --bogus', 2],
];

describe('-o json', () => {
  it('has the shape of its noun from every command and in every state of a batch', async () => {
    const console = await threeBatches();
    console.write('wrong.csv', 'prompt,seed\na,x\nb,y\n');
    const wrong: string[] = [];
    for (const [noun, line, exit = 0] of COMMANDS) {
      const args = line.split(' ').map((word) => (word.endsWith('.csv') ? join(console.folder, word) : word));
      const said = await console.run(...args, '-o', 'json');
      const document: unknown = JSON.parse(said.stdout || 'null');
      for (const record of [document].flat()) {
        const against = contradictions(noun, record);
        if (against !== '') wrong.push(`${line}: ${against}`);
      }
      if (exit !== 'any' && said.code !== exit) wrong.push(`${line}: exit code ${said.code}: ${said.stderr}`);
    }
    expect(wrong).toEqual([]);
  });

  it('is one document, also if a batch does not add up', async () => {
    const console = await Console.open();
    const batch = await console.batch(console.write('sheet.csv', SHEET), 'done');
    await endBatch(batch);
    const summary = await readSummary(batch.store);
    await batch.store.write(SUMMARY_FILE, JSON.stringify({ ...summary, cost_usd: 99 }));
    const said = await console.run('verify', 'done', '-o', 'json');
    expect([said.code, JSON.parse(said.stdout)]).toEqual([1, expect.objectContaining({ holds: false })]);
  });

  it('has lines of one shape in -o jsonl, and exact integers', async () => {
    const console = await threeBatches();
    const linesOf = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await console.run(...args, '-o', 'jsonl')).stdout.trim().split('\n');
    const rows = await linesOf('rows', 'done');
    expect(rows.map((line) => contradictions('row', JSON.parse(line)))).toEqual(['', '', '']);
    expect(rows[1]).toContain('"seed":18446744073709551615');
    expect(await linesOf('results', 'done')).toEqual(rows);
    const events = await linesOf('events', 'done', '--rows');
    const nouns = events.map((line) => {
      const event = JSON.parse(line) as { event: string };
      const noun = event.event === 'attempt' ? 'attempt' : 'event';
      expect(contradictions(noun, event)).toBe('');
      return noun;
    });
    expect(nouns.filter((noun) => noun === 'attempt')).toHaveLength(3);
    expect(JSON.parse(events.find((line) => line.includes('"scaled"')) ?? '')).toMatchObject({
      limits: { concurrency: 8, starts_per_minute: null, deadline_at: '2026-11-22T10:00:00.000Z' },
    });
  });

  it('shows a batch that runs, pauses or ends in one shape, with every limit', async () => {
    const console = await Console.open();
    const batch = await console.batch(console.write('sheet.csv', SHEET), 'one');
    const own = await statusFromFolder(batch);
    const world = new World({ rows: 3 });
    world.apply({ type: 'pause', commandId: '1', by: 'me' });
    const snapshots = [
      ...world.published,
      progress(
        begin(
          paramsOf({
            adaptive: 4,
            retriesByKind: { timeout: 1 },
            startsPerMinute: 60,
            gpuConcurrency: { A10G: 2 },
            failAfter: { share: 0.05 },
            notifyFailed: { rows: 3 },
            deadlineAt: 1_000,
            maxCostNano: 5e9,
            attemptCostNano: { A10G: 1 },
            pool: 'gpus',
            weight: 2,
            urgency: 1,
            notify: ['slack:ops'],
          }),
          WRITES,
          1_000,
        ),
      ),
    ];
    expect(snapshots.length).toBeGreaterThan(1);
    for (const snapshot of snapshots) {
      const shown = { ...own, state: snapshot.state, progress: await shownProgress(batch, snapshot) };
      expect(contradictions('batch', JSON.parse(JSON.stringify(batchJson(batch, shown))))).toBe('');
    }
    expect(Object.keys(batchJson(batch, own))).toEqual(Object.keys(NOUNS.batch.shape));
  });

  it('shows no cost of a batch that runs while the cost of each run is unknown', async () => {
    const console = await Console.open();
    const batch = await console.batch(console.write('sheet.csv', SHEET), 'one');
    const state = begin(paramsOf({ rows: 3 }), WRITES, 1_000);
    const costOf = async () => {
      const own = await statusFromFolder(batch);
      return batchJson(batch, { ...own, progress: await shownProgress(batch, progress(state)) }).cost_usd;
    };
    expect(await costOf()).toBe(0);
    spendInFull(state, 1);
    expect(await costOf()).toBeNull();
  });

  it('shows pools and schedules in one shape', async () => {
    const member = {
      batch: 'a',
      mark: 'm',
      weight: 1,
      urgency: 0,
      granted: 2,
      used: 1,
      wanted: 2,
      charged: 1,
    };
    const pool = { pool: 'gpus', size: 4, batches: 2, used: 1, charged: 1 };
    const both = [member, { ...member, goneAt: 1, freeAt: 2 }];
    expect(contradictions('pool', poolJson({ ...pool, members: both }))).toBe('');
    const info = {
      name: 'nightly',
      definition: definitionOf({}),
      isPaused: true,
      nextTimes: [new Date(0)],
      firings: [{ nominalTime: new Date(0), startedAt: new Date(1), batch: 'b', state: 'running' as const }],
      counts: { fired: 1, missed: 0, skipped: 0 },
    };
    for (const how of [undefined, 'created'] as const)
      expect(contradictions('schedule', await scheduleJson(info, how))).toBe('');
  });

  it('names the code, the text, the hint and the exit code of an error', () => {
    expect(problemJson(new Error('x'))).toMatchObject({
      error: { code: 'E000', message: 'x', exit_code: 1 },
    });
    expect(contradictions('problem', problemJson(new Error('x')))).toBe('');
  });

  it('prints nothing that the schema does not name', () => {
    const document = { schedule: 'a', batches: [], secret: 1 };
    expect(shaped(NOUNS.trigger, document)).toEqual({ schedule: 'a', batches: [] });
  });
});
