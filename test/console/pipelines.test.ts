// A job file with stages: what can be known before anything runs is refused, by name.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Outcome } from '../../src/batch/outcome.ts';
import {
  callOfStage,
  openPipeline,
  writePipeline,
  type PipelineFolder,
} from '../../src/batches/pipeline/pipeline-folder.ts';
import { openStore } from '../../src/store/open-store.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const STAGES = `
[[stage]]
name = "drafts"
from = "prompts.csv"
deployment = "portraits"

[[stage]]
name = "finals"
from = "drafts"
deployment = "portraits"
pick = true

[[stage]]
name = "prints"
from = "drafts"
deployment = "portraits"
`;

async function planned(job: string, ...more: readonly string[]) {
  const console = await Console.open();
  console.write('prompts.csv', 'number,prompt\n1,a fox\n2,an owl\n');
  console.write('poster.job.toml', job);
  return console.run('plan', join(console.folder, 'poster.job.toml'), ...more);
}

/** The plan when an earlier batch has done a row of the sheet and the settings name another folder than the job. */
async function plannedAfter(above: string, ofStage: string): Promise<string> {
  const console = await Console.open();
  await endBatch(
    await console.batch(console.write('prompts.csv', 'number,prompt\n1,a fox\n2,an owl\n'), 'done'),
  );
  const job = console.write(
    'poster.job.toml',
    `out = "batches"\n${above}\n${STAGES.replace('\n\n', `\n${ofStage}\n\n`)}`,
  );
  vi.stubEnv('RUNSHEET_OUT', join(console.folder, 'elsewhere'));
  return (await console.run('plan', job)).stderr;
}

describe('a stage whose source has rows without success', () => {
  it.each<[Outcome, string]>([
    ['failed', 'runsheet retry poster-drafts'],
    ['cancelled', 'runsheet retry poster-drafts --outcome cancelled'],
    ['unknown', 'runsheet rows poster-drafts'],
  ])('that are %s names the command for them', async (last, helps) => {
    const console = await Console.open();
    const sheet = console.write('prompts.csv', 'number,prompt\n1,a fox\n2,an owl\n');
    const madeFor = callOfStage('poster', 'drafts');
    const drafts = await console.batch(sheet, 'poster-drafts', undefined, undefined, madeFor);
    await endBatch(drafts, true, last);
    const file = { pipeline: 'poster', mark: '0123456789abcdef', createdAt: '2026-11-22T10:00:00.000Z' };
    const stages = [{ name: 'drafts' }, { name: 'finals', from: 'drafts', pick: false, partial: false }];
    const store = openStore(join(console.out, 'poster'));
    const command = ['/jobs/my posters.job.toml', '--name', 'poster'];
    await writePipeline(store, { ...file, stages, command } as never);
    const helped = async () =>
      / helps +(.*)/.exec((await console.run('pipeline', 'show', 'poster')).stderr)?.[1];
    expect(await helped()).toBe(helps);
    // Then its file has to be corrected: to follow it as it is would fail in the same way.
    await store.write('failures/finals.json', '{"message": "no row is left"}', 'synced');
    expect(await helped()).toBeUndefined();
    expect((await console.run('pipeline', 'show', 'poster')).stderr).toMatch(
      / corrected runsheet run '\/jobs\/my posters\.job\.toml' --name poster/,
    );
  });
});

describe('a job file with stages', () => {
  it.each([
    ['', '', true],
    ['again = true', '', false],
    ['again = true', 'again = false', true],
    ['reuse = true', 'again = false', false],
    ['reuse = true', 'reuse = false', true],
  ])(
    'with %j above and %j in a stage asks about earlier rows in its own folder: %j',
    async (above, own, asks) => {
      expect(/^ {2}asks /m.test(await plannedAfter(above, own))).toBe(asks);
    },
  );

  it('is planned as a whole: the rows that are known, and what comes after which stage', async () => {
    const { code, stdout, stderr } = await planned(
      `max_cost = 3\n${STAGES.replaceAll('"portraits"', '"portraits"\nmax_cost = 1')}`,
    );
    expect([code, stderr.includes('2 rows')]).toEqual([0, true]);
    expect(stdout.split('\n').slice(1)).toEqual([
      'stage drafts: portraits, first, at most $1.00',
      'stage finals: portraits, after the picks of drafts, at most $1.00',
      'stage prints: portraits, after drafts, at most $1.00',
      '',
    ]);
  });

  it('gives each stage what stands above all, unless the stage says otherwise', async () => {
    const { stdout } = await planned(`deployment = "nothing"\n${STAGES}`);
    expect(stdout).toContain('stage prints: portraits');
  });

  it.each<[string, string, string | RegExp, string]>([
    [
      'from = "prompts.csv"',
      'from = "prints"',
      'wait for each other: drafts ← prints ← drafts',
      'the first stage takes a sheet',
    ],
    [
      'from = "drafts"\ndeployment = "portraits"\n',
      'from = "draft"\ndeployment = "portraits"\n',
      'names neither a stage nor a sheet',
      'did you mean drafts?',
    ],
    [
      'name = "prints"\nfrom = "drafts"\ndeployment = "portraits"',
      'name = "prints"\nfrom = "drafts"',
      'stage prints of',
      'deployment = "…"',
    ],
    ['name = "prints"', 'name = "finals"', 'stage finals in', ''],
    ['name = "prints"', 'name = "a/b"', 'name of stage 3', ''],
    ['pick = true', 'pick = "yes"', 'pick in', ''],
    ['pick = true', 'deadline = 8', '[[stage]] finals: --deadline "8" is not a time', '--deadline 8h'],
    ['pick = true', 'each = "fiel"', '[[stage]] finals: --each "fiel"', 'did you mean file?'],
    ['pick = true', 'pikc = true', 'names pikc', 'did you mean pick?'],
    ['pick = true', 'max_cots = 3', 'names max_cots', 'did you mean max_cost?'],
    ['from = "prompts.csv"', 'from = "prompts.csv"\npick = true', 'pick in', 'from another stage'],
    [
      'name = "prints"',
      'name = "prints"\nmap = { prompt = "ouput" }',
      'takes the column ouput',
      'did you mean output?',
    ],
    [
      'name = "prints"',
      'name = "prints"\nset = { promt = "x" }',
      'gives the input promt',
      'did you mean prompt?',
    ],
    ['name = "prints"', 'name = "prints"\nwhere = "scroe > 3"', 'scroe', ''],
    [
      'name = "prints"\nfrom = "drafts"\ndeployment = "portraits"',
      'name = "prints"\nfrom = "drafts"\ndeployment = "portrait"',
      'portrait',
      'did you mean portraits?',
    ],
    [
      'name = "prints"',
      'name = "prints"\nnotify = "slack:nobody"',
      'to notify slack:nobody',
      'RUNSHEET_SLACK',
    ],
    ['name = "prints"', `name = "${'p'.repeat(100)}"`, 'the name of a batch is', 'use '],
    [
      '\n[[stage]]\nname = "drafts"',
      '\nmax_cost = 3\n[[stage]]\nname = "drafts"',
      'its stage drafts has none',
      '',
    ],
    [
      '\n[[stage]]\nname = "drafts"',
      '\nsheet = "prompts.csv"\n[[stage]]\nname = "drafts"',
      'sheet in',
      'from = "prompts.csv"',
    ],
    [
      '\n[[stage]]\nname = "drafts"',
      '\n[schedule]\ncron = "0 2 * * *"\n[[stage]]\nname = "drafts"',
      'schedule in',
      '',
    ],
  ])('with %j as %j is refused by name', async (from, to, what, hint) => {
    expect(STAGES).toContain(from);
    const { code, stderr } = await planned(STAGES.replace(from, to));
    expect(stderr).toMatch(what);
    expect(stderr).toContain(hint);
    expect(code).toBeGreaterThan(0);
  });

  it('whose stages may cost more than the job is refused', async () => {
    const { code, stderr } = await planned(
      `max_cost = 2\n${STAGES.replaceAll('"portraits"', '"portraits"\nmax_cost = 1')}`,
    );
    expect(stderr).toContain('may cost $3.00 together, more than its max_cost of $2.00');
    expect(code).toBe(2);
  });

  it('is written down before its first batch is made, which keeps its settings', async () => {
    const console = await Console.open();
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
    const sheet = console.write('prompts.csv', 'prompt\na fox\nan owl\n');
    const run = (set = '') => {
      const stages = STAGES.replace('"prompts.csv"', `"prompts.csv"\ndeadline = "8h"\n${set}`);
      return console.run('run', console.write('my posters.job.toml', stages), '--yes', '--name', 'poster');
    };
    expect((await run()).stderr).toContain('error[E401]');
    expect(existsSync(join(console.out, 'poster', 'pipeline.json'))).toBe(false);
    await console.batch(sheet, 'poster-drafts', 'portraits', undefined, 'pipeline poster stage drafts');
    expect((await run()).stderr).toContain('error[E401]');

    // The command works in any folder, and a deadline counts from when the stage has its batch.
    const { file } = (await openPipeline(console.out, 'poster')) as PipelineFolder;
    expect(file.command).toEqual([join(console.folder, 'my posters.job.toml'), '--name', 'poster']);
    expect(file.stages[0]).toMatchObject({ deadlineMs: 28_800_000 });
    expect(file.stages[0]?.request.settings).not.toHaveProperty('deadlineAt');

    const { code, stderr } = await run('set = { style = "plain" }');
    expect(stderr).toContain('error[E566]');
    expect(stderr).toContain('set.style none → "plain"');
    expect(code).toBe(2);
    console.write('prompts.csv', 'prompt\na fox\n');
    expect((await run()).stderr).toContain('with other settings: its sheet had other content');
  }, 90_000);

  it('is given again when the deadline of stages that were made, or wait, has passed', async () => {
    const console = await Console.open();
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
    const sheet = console.write('prompts.csv', 'prompt\na fox\nan owl\n');
    const madeFor = 'pipeline poster stage drafts';
    await endBatch(await console.batch(sheet, 'poster-drafts', 'portraits', undefined, madeFor));
    const run = async (above: string) => {
      const path = console.write('poster.job.toml', `name = "poster"\n${above}\n${STAGES}`);
      return (await console.run('run', path)).stderr;
    };
    const soon = new Date(Date.now() + 60_000).toISOString();
    expect(await run(`deadline = "${soon}"`)).toContain('error[E401]');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await run(`deadline = "${soon}"`)).toContain('error[E401]');
    expect(await run('deadline = "8h"')).toContain('error[E401]');
  }, 90_000);

  it('leaves nothing that looks like a pipeline, and no batch, if a question of any stage refuses it', async () => {
    const console = await Console.open();
    await endBatch(await console.batch(console.write('done.csv', 'prompt\na fox\nan owl\n'), 'done'));
    console.write('prompts.csv', 'prompt\na hen\n');
    const more = '\n[[stage]]\nname = "others"\nfrom = "done.csv"\ndeployment = "portraits"\n';
    const path = console.write('poster.job.toml', `name = "poster"\n${STAGES}${more}`);
    const { code, stderr } = await console.run('run', path);
    expect([code, stderr]).toEqual([2, expect.stringContaining('error[E530]')]);
    expect(existsSync(join(console.out, 'poster', 'pipeline.json'))).toBe(false);
    expect(existsSync(join(console.out, 'poster-drafts'))).toBe(false);
  });

  it('takes no folder that has other content, which clean would remove with the pipeline', async () => {
    const console = await Console.open();
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
    console.write('prompts.csv', 'prompt\na hen\n');
    mkdirSync(join(console.out, 'photos'), { recursive: true });
    writeFileSync(join(console.out, 'photos', 'owl.png'), 'an owl');
    const path = console.write('poster.job.toml', `name = "photos"\n${STAGES}`);
    const { code, stderr } = await console.run('run', path);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has other content: owl.png')]);
    expect(existsSync(join(console.out, 'photos', 'pipeline.json'))).toBe(false);
  });

  it('has a folder of its own that is no batch, and one of another program hides none', async () => {
    const console = await Console.open();
    const store = openStore(join(console.out, 'poster'));
    const file = {
      pipeline: 'poster',
      mark: '0123456789abcdef',
      createdAt: '',
      stages: [{ name: 'drafts' }],
    };
    await writePipeline(store, file as never);
    const sheet = console.write('prompts.csv', 'prompt\na hen\n');
    const { code, stderr } = await console.run('plan', sheet, '-d', 'portraits', '--name', 'poster');
    expect([code, stderr]).toEqual([2, expect.stringContaining('"poster" is the name of a pipeline')]);
    await openStore(join(console.out, 'website')).write('pipeline.json', '{"steps": []}');
    expect((await console.run('pipeline')).stdout).toMatch(/^poster\s+drafts starting\n$/);
  });

  it('in a folder with a space gets a name that batches can have', async () => {
    const console = await Console.open();
    mkdirSync(join(console.folder, 'Kätzchen & Co'));
    console.write('Kätzchen & Co/prompts.csv', 'prompt\na cat\n');
    const path = console.write('Kätzchen & Co/Über uns.job.toml', STAGES);
    const { code, stdout, stderr } = await console.run('plan', path);
    expect([code, stdout.split('\n')[0]]).toEqual([0, expect.stringMatching(/^ber-uns-[0-9a-f]{8}$/)]);
    expect(stderr).toContain(`runsheet run '${path}'`);
  });

  describe('with again gives a stage exactly its name, where', () => {
    const job = `again = true\nname = "poster"\n${STAGES}`;

    it('a killed command has left its layout', async () => {
      const console = await Console.open();
      console.write('prompts.csv', 'prompt\na fox\n');
      mkdirSync(join(console.out, 'poster-drafts', 'layout', '0123456789abcdef'), { recursive: true });
      const { code, stderr } = await console.run('plan', console.write('poster.job.toml', job));
      expect([code, stderr]).toEqual([0, expect.stringMatching(/batch +poster-drafts ·/)]);
    });

    it('another command has made a batch of the same rows', async () => {
      const console = await Console.open();
      await console.batch(console.write('prompts.csv', 'prompt\na fox\n'), 'poster-drafts');
      const path = console.write('poster.job.toml', job);
      const { code, stderr } = await console.run('run', path);
      expect(stderr).toContain('the batch "poster-drafts" was made by another command');
      expect(code).toBe(2);
    });
  });

  it('makes no batch if the user declines the question of a later sheet', async () => {
    const console = await Console.open();
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
    await endBatch(await console.batch(console.write('done.csv', 'prompt\na fox\nan owl\n'), 'done'));
    console.write('prompts.csv', 'prompt\na hen\n');
    const more = '\n[[stage]]\nname = "others"\nfrom = "done.csv"\ndeployment = "portraits"\n';
    const path = console.write('poster.job.toml', `name = "poster"\n${STAGES}${more}`);
    Object.assign(console, { isTerminal: true, typed: 'q\n' });
    const { stderr } = await console.run('run', path);
    expect(stderr).toContain('q  stop');
    expect(existsSync(join(console.out, 'poster-drafts'))).toBe(false);
    expect(existsSync(join(console.out, 'poster', 'pipeline.json'))).toBe(false);
  });

  it('takes the letters of flags that are about the whole command', async () => {
    const console = await Console.open();
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
    console.write('prompts.csv', 'prompt\na hen\n');
    const path = console.write('poster.job.toml', STAGES);
    const { stdout } = await console.run('submit', path, '-qy', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E401' } });
    expect((await console.run('plan', path, '-o', 'json')).stdout).toContain(
      'the plan of a job with stages is text',
    );
  });

  it('takes no flag that is about one batch', async () => {
    const { code, stderr } = await planned(STAGES, '--max-cost', '3');
    expect(stderr).toContain('--max-cost is about one batch');
    expect(code).toBe(2);
  });
});

it('none is shown where there is none', async () => {
  const console = await Console.open();
  const { stderr } = await console.run('pipeline', 'show');
  expect(stderr).toContain('there is no pipeline here yet\n');
});

it('a stage whose batch was lost says why, and the command that continues the batch', async () => {
  const console = await Console.open();
  const sheet = console.write('s.csv', 'prompt\na hen\n');
  await console.batch(sheet, 'poster-drafts', undefined, undefined, 'pipeline poster stage drafts');
  const stages = [{ name: 'drafts' }];
  const file = { pipeline: 'poster', mark: '0123456789abcdef', createdAt: '', stages };
  const folder = join(console.out, 'poster');
  mkdirSync(join(folder, 'failures'), { recursive: true });
  writeFileSync(join(folder, 'pipeline.json'), JSON.stringify(file));
  writeFileSync(join(folder, 'failures', 'drafts.json'), '{"code":"E508","message":"it has no results"}');
  const { stdout, stderr } = await console.run('pipeline', 'show', 'poster');
  expect(stdout).toMatch(/drafts +interrupted .*E508: it has no results/);
  expect(stderr).toMatch(/helps +runsheet resume poster-drafts\n/);
});
