// The end of a batch, in a real folder.

import { closedSnapshot } from '../../src/batch/state/snapshot.ts';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ActivityNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { finalizeBatch, type FinalizeInput } from '../../activities/finalize-batch.ts';
import { keepEvidence } from '../../activities/keep-records.ts';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { begin } from '../../src/batch/state/state.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { callOfStage } from '../../src/batches/pipeline/pipeline-folder.ts';
import { partName } from '../../src/results/parts.ts';
import { snapshotName } from '../../src/store/passes.ts';
import { type PartRecord } from '../../src/results/row-record.ts';
import { tallyChange } from '../../src/results/tally-rows.ts';
import type { Summary } from '../../src/results/summary.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { holderHere } from '../../src/store/holder.ts';
import type { Standing } from '../../src/store/standing.ts';
import type { Store } from '../../src/store/store.ts';
import { BACK, FILE as LISTED, idOf, listing, NOW, runOf } from '../audit/lists.ts';
import { paramsOf } from '../batch/params.ts';
import { depsOf } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const SHEET = {
  name: 'sheet.csv',
  file: 'sheet.csv',
  columns: ['n'],
  inputs: [{ input: 'n', kind: 'auto', from: { column: 'n' } }],
  options: { format: 'csv' },
};
const FILE = { ...LISTED, sheet: { ...LISTED.sheet, ...SHEET } } as unknown as BatchFile;
const ROWS = FILE.sheet.rows;
const REF = { batch: FILE.batch, mark: FILE.mark, folder: '/nowhere' };
const recordOf = (row: number): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [{ attempt: 1, outcome: 'succeeded', run_id: idOf(row), gpu_used: 'L4', run_seconds: 3 }],
  files: [],
});
const RECORDS = Array.from({ length: ROWS }, (_, at) => recordOf(at + 1));
const PROGRESS = { ...progress(begin(paramsOf({ rows: ROWS }), WRITES, 0)), tally: tallyChange(RECORDS) };

describe('the end of a batch', () => {
  let folder = '';
  let store: Store;
  const cancelled: string[] = [];
  beforeEach(async () => {
    folder = freshFolder();
    store = folderStore(folder);
    cancelled.length = 0;
    const lines = RECORDS.map(({ row }) => rowLine(row, `k${row}`, undefined, '{}'));
    await layoutOf(store, FILE).write(pageName(1), lines.join(''));
    await layoutOf(store, FILE).write(FILE.sheet.file, `n\n${RECORDS.map(({ row }) => `${row}\n`).join('')}`);
  });

  const writePart = (records: readonly PartRecord[]): Promise<void> =>
    store.write(partName(1, 1), records.map((record) => `${JSON.stringify(record)}\n`).join(''));

  const deps = (
    runs = RECORDS.map(({ row }) => runOf({ place: row })),
    confirm = async (): Promise<void> => undefined,
  ) =>
    depsOf({
      completion: { heartbeat: confirm },
      open: async () => ({
        file: FILE,
        store,
        service: {
          ...listing(runs),
          cancelRun: async (id: string) => void cancelled.push(id),
          getRun: async (id: string) => runs.find((run) => run.id === id),
        } as never,
      }),
    } as never);

  const finalize = (
    dependencies = deps(),
    evidence: readonly AttemptRun[] = [],
    throughPass = 1,
    at = REF.folder,
    overrides: Partial<FinalizeInput> = {},
  ): Promise<void> =>
    new MockActivityEnvironment().run(() =>
      finalizeBatch(dependencies, {
        ...REF,
        folder: at,
        progress: PROGRESS,
        startedAt: 1_000,
        endedAt: 61_000,
        evidence,
        isEvidenceLost: false,
        back: BACK,
        log: [],
        logNumber: 1,
        throughPass,
        closed: closedSnapshot(begin(paramsOf({ rows: ROWS }), WRITES, 0)),
        ...overrides,
      }),
    );
  const summary = (): Summary => JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Summary;

  it('writes the results, with the times that it is given', async () => {
    await writePart(RECORDS);
    await finalize();
    expect(summary()).toMatchObject({ rows: ROWS, seconds: 60, duplicates: { runs: 0 } });
    const lines = readFileSync(join(folder, 'results.csv'), 'utf8').trim().split('\n');
    expect(lines.length).toBe(ROWS + 1);
  });

  it('writes the same files if it runs twice', async () => {
    await writePart(RECORDS);
    await finalize();
    const before = ['results.csv', 'results.jsonl', 'summary.json'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    await finalize();
    expect(
      ['results.csv', 'results.jsonl', 'summary.json'].map((name) =>
        readFileSync(join(folder, name), 'utf8'),
      ),
    ).toEqual(before);
  });

  it('after rows were sent again makes the workflow of its pipeline look', async () => {
    await writePart(RECORDS);
    const out = freshFolder();
    const mark = 'fedcba9876543210';
    const pipeline = { pipeline: 'poster', mark, stages: [{ name: 'drafts' }] };
    await folderStore(join(out, 'poster')).write('pipeline.json', JSON.stringify(pipeline));
    const woken: unknown[] = [];
    const open = await deps().open(REF);
    const dependencies = {
      ...deps(),
      open: async () => ({ ...open, file: { ...FILE, madeFor: callOfStage('poster', 'drafts') } }),
      wakePipeline: async (wokenPipeline: { readonly mark: string }) => woken.push(wokenPipeline.mark),
    };
    await finalize(dependencies, [], 1, join(out, 'poster-drafts'));
    expect(woken).toEqual([]);
    await store.write('passes/00002.json', '{"at":"2026-11-23T10:00:00Z","kind":"recover","segments":[]}');
    await finalize(dependencies, [], 2, join(out, 'poster-drafts'));
    expect(woken).toEqual([mark]);
  });

  it('lets no abandoned try overwrite the files of the current one', async () => {
    await writePart(RECORDS);
    const runs = RECORDS.map(({ row }) => runOf({ place: row }));
    const duplicate = runOf({ place: 2, id: idOf(700) });
    await finalize(deps([...runs, duplicate]));
    const files = () =>
      [...readdirSync(folder).filter((name) => /^[^.].*\./.test(name)), snapshotName(1)].map((name) => [
        name,
        statSync(join(folder, name)).ino,
      ]);
    const before = files();
    expect(summary().duplicates.runs).toBe(1);
    const givenUpAfter = (confirmations: number) => async (): Promise<void> => {
      if ((confirmations -= 1) < 0) throw new ActivityNotFoundError('given up');
    };
    const late = runOf({ place: 3, id: idOf(701) });
    for (const older of [runs, [...runs, late]])
      await expect(finalize(deps(older, givenUpAfter(0)))).rejects.toThrow('given up');
    expect(files()).toEqual(before);
    await expect(finalize(deps([...runs, late], givenUpAfter(1)))).rejects.toThrow('given up');
    expect(files().slice(0, -1)).toEqual(before.slice(0, -1));
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('calls lists of an old batch complete by its first run only if no attempt was abandoned', async () => {
    const endedAt = (row: number): string => new Date(NOW - (30 - row) * 3_600_000).toISOString();
    await writePart(
      RECORDS.map((record) => ({
        ...record,
        attempts: record.attempts.map((attempt) => ({ ...attempt, ended_at: endedAt(record.row) })),
      })),
    );
    const old = { ...BACK, agoMs: 40 * 3_600_000 };
    await finalize(deps(), [], 1, REF.folder, { back: old });
    expect(summary()).toMatchObject({ lists: 'complete', unseen_runs_at_most: 0 });
    const ledger = { ...PROGRESS.ledger, unknown: 1 };
    await finalize(deps(), [], 1, REF.folder, { back: old, progress: { ...PROGRESS, ledger } });
    expect(summary()).toMatchObject({ lists: 'incomplete', unseen_runs_at_most: 1 });
  });

  it('stops reading the lists if the results cannot be written', async () => {
    await writePart(RECORDS);
    const dependencies = deps();
    const endless = listing(
      Array.from({ length: 50_000 }, (_, at) => runOf({ place: 1, id: idOf(1_000 + at) })),
    );
    const draft: Store['draft'] = async (name) => {
      if (name === 'results.csv') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      return store.draft(name);
    };
    const open = await dependencies.open(REF);
    const full = { ...open, store: { ...store, draft }, service: { ...open.service, ...endless } };
    await expect(finalize({ ...dependencies, open: async () => full })).rejects.toThrow('no space left');
    expect(endless.asked.length).toBeLessThan(100);
  });

  it('pauses the batch if a part that the batch has counted is missing', async () => {
    await writePart(RECORDS.slice(1));
    await expect(finalize()).rejects.toMatchObject({
      type: 'StoreFailed',
      nonRetryable: true,
      message: expect.stringContaining(`${ROWS - 1} succeeded rows in the parts, ${ROWS} counted`),
    });
    expect(existsSync(join(folder, 'results.csv'))).toBe(false);
    expect(existsSync(join(folder, 'summary.json'))).toBe(false);
  });

  it('changes and cancels nothing once another execution has the batch, and says so although it finds other parts', async () => {
    const holder = holderHere({ kind: 'embedded', home: '/home/bob/.runsheet' });
    const rebuilding: Standing = { is: 'rebuilding', holder };
    const running = runOf({ place: 2, id: idOf(700), status: 'running' });
    const runs = [...RECORDS.map(({ row }) => runOf({ place: row })), running];
    /** The other execution appears when so many looks at the folder have said otherwise. */
    const finalizeAfter = async (looks: number): Promise<void> => {
      let left = looks;
      const standing = async (): Promise<Standing> => ((left -= 1) < 0 ? rebuilding : { is: 'ours' });
      await expect(finalize({ ...deps(runs), standing })).rejects.toMatchObject({
        type: 'StoreFailed',
        message: expect.stringContaining('/home/bob/.runsheet') as string,
      });
    };
    await writePart(RECORDS.slice(1));
    await finalizeAfter(0);
    await writePart(RECORDS);
    for (const looks of [0, 1, 2]) {
      await finalizeAfter(looks);
      expect(existsSync(join(folder, 'summary.json'))).toBe(false);
    }
    expect(cancelled).toEqual([]);
  });

  it('names and cancels a second run that only the evidence shows, from the input or from stored files', async () => {
    await writePart(RECORDS);
    const evidence = (id: string): AttemptRun => ({ place: 1, attempt: 1, runId: id });
    const hidden = [
      runOf({ place: 1, id: 'aaaa', status: 'running' }),
      runOf({ place: 1, id: 'bbbb', status: 'running' }),
    ];
    const dependencies = deps([...RECORDS.map(({ row }) => runOf({ place: row })), ...hidden]);
    await new MockActivityEnvironment().run(() =>
      keepEvidence(dependencies, { ...REF, number: 1, runs: [evidence('aaaa'), evidence(idOf(1))] }),
    );
    await finalize(dependencies, [evidence('bbbb')]);
    expect(cancelled.sort()).toEqual(['aaaa', 'bbbb']);
    expect(summary().duplicates.runs).toBe(2);
    const named = readFileSync(join(folder, 'duplicates.jsonl'), 'utf8');
    for (const id of ['aaaa', 'bbbb']) expect(named).toContain(`"run_id":"${id}"`);
  });
});
