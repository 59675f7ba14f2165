import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RowRecord } from '../../src/results/row-record.ts';
import type { Summary } from '../../src/results/summary.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Ended } from '../stage/stage.ts';

const DONE = 300;
const ROWS = DONE + 1;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 40, runSeconds: 0.05 });

/** The commands of the hint that have this flag, as a shell would read them. */
const commandsIn = (stderr: string, flag: string): readonly string[][] =>
  [...stderr.matchAll(/^ {2}runsheet (.+)$/gm)]
    .map(([, args = '']) =>
      [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    )
    .filter((args) => args.includes(flag));

describe('a sheet that shares rows with an earlier batch', () => {
  const stage = sharedStage();
  const flags = ['-d', 'portraits', '-c', '40'];
  let first: Ended;
  let second: Ended;

  beforeAll(async () => {
    await stage.startAll(DEPLOYMENTS);
    first = await stage.run(['run', stage.sheet(DONE), ...flags]);
  });

  const bought = async (): Promise<number> => (await stage.truth()).length;
  const json = (folder: string, name: string) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown;
  /** The lines of a sheet without its header. */
  const lines = (rows: number): readonly string[] =>
    readFileSync(stage.sheet(rows, 'scratch.csv'), 'utf8').trimEnd().split('\n').slice(1);

  it('starts with 300 rows that are bought', async () => {
    expect([first.code, await bought()]).toEqual([0, DONE]);
  });

  it.each(['run', 'submit'])('makes %s in a script stop before anything is sent or created', async (name) => {
    const { batch } = stage.batchFile();
    const refused = await stage.run([name, stage.sheet(ROWS, 'more.csv'), ...flags]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`error\\[E530\\]: 300 of 301 rows are done in ${batch}`)),
    ]);
    expect([await bought(), stage.batchFile().batch]).toEqual([DONE, batch]);
    for (const flag of ['--reuse', '--again'])
      expect(commandsIn(refused.stderr, flag)).toEqual([[name, flag, stage.path('more.csv'), ...flags]]);
  });

  it('costs one run with the command that the refusal prints', async () => {
    const refused = await stage.run(['run', stage.sheet(ROWS, 'more rows.csv'), ...flags]);
    const [command = []] = commandsIn(refused.stderr, '--reuse');
    second = await stage.run(command);
    expect([second.code, second.stderr]).toEqual([
      0,
      expect.stringMatching(/301 of 301 rows succeeded[^]*reused 300 of 301; 1 run bought, <?\$0\.0/),
    ]);
    expect(await bought()).toBe(ROWS);
    const folder = second.stdout.trim();
    const summary = json(folder, 'summary.json') as Summary;
    expect(summary).toMatchObject({ rows: ROWS, reused: DONE, outcomes: { succeeded: ROWS } });
    expect(summary.requests.accepted).toBe(1);
    expect(Object.values(summary.gpus).map(({ runs }) => runs)).toEqual([1]);
    // The same command attaches: it neither asks nor buys.
    const again = await stage.run(['run', stage.path('more rows.csv'), ...flags]);
    expect([again.code, again.stdout.trim(), await bought()]).toEqual([0, folder, ROWS]);
  });

  it('has whole lines in its results, which name where reused rows come from', async () => {
    const folder = second.stdout.trim();
    const source = stage.results(first.stdout.trim());
    const results = stage.results(folder);
    expect(results.map(({ row }) => Number(row))).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
    const { batch } = stage.batchFile(first.stdout.trim());
    for (const [at, { prompt, outcome, outputs = '' }] of results.entries()) {
      expect([prompt, outcome]).toEqual([`portrait ${at + 1}`, 'succeeded']);
      expect(readFileSync(join(folder, outputs)).subarray(1, 4).toString()).toBe('PNG');
    }
    for (const [at, { reason, run_id, attempts, key }] of results.slice(0, DONE).entries())
      expect([reason, run_id, attempts, key]).toEqual([
        `reused from ${batch}#${at + 1}`,
        '',
        '0',
        source[at]?.['key'],
      ]);
    expect(results[DONE]).toMatchObject({ reason: '', run_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const shown = await stage.run(['show', folder.split('/').at(-1) ?? '', '1', '-o', 'json']);
    expect((JSON.parse(shown.stdout) as RowRecord).reused_from).toMatch(/#1$/);
  });

  it('keeps its files and adds up after its source is removed', async () => {
    const folder = second.stdout.trim();
    rmSync(first.stdout.trim(), { recursive: true });
    for (const { outputs = '' } of stage.results(folder))
      expect(existsSync(join(folder, outputs))).toBe(true);
    const verify = await stage.run(['verify', folder.split('/').at(-1) ?? '']);
    expect([verify.code, verify.stdout]).toEqual([
      0,
      expect.stringContaining('rows reused from earlier batches: 300'),
    ]);
    // The rows are found in the batch that reused them.
    const shuffled = lines(5).toReversed();
    const sheet = stage.write('shuffled.csv', `number,prompt,seed\n${shuffled.join('\n')}\n`);
    const run = await stage.run(['run', sheet, ...flags, '--reuse', '-o', 'json']);
    expect(JSON.parse(run.stdout)).toMatchObject({ summary: { reused: 5, requests: { accepted: 0 } } });
  });

  it('buys a reused row that is sent again, which then counts as bought', async () => {
    const before = await bought();
    const folder = second.stdout.trim();
    const batch = folder.split('/').at(-1) ?? '';
    const retry = await stage.run(['retry', batch, '--row', '7', '--outcome', 'succeeded', '--yes']);
    expect([retry.code, await bought()]).toEqual([0, before + 1]);
    expect(json(folder, 'summary.json')).toMatchObject({ reused: DONE - 1, outcomes: { succeeded: ROWS } });
    const seventh = stage.results(folder)[6];
    expect([seventh?.['reason'], seventh?.['attempts']]).toEqual(['', '1']);
    expect((await stage.run(['verify', batch])).code).toBe(0);
  });

  it('buys all rows with --again', async () => {
    const before = await bought();
    const sheet = stage.write('again.csv', `number,prompt,seed\n${lines(3).toReversed().join('\n')}\n`);
    const run = await stage.run(['run', sheet, ...flags, '--again']);
    expect([run.code, await bought()]).toEqual([0, before + 3]);
    const both = await stage.run(['run', sheet, ...flags, '--again', '--reuse']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--again and --reuse exclude')]);
  });
});
