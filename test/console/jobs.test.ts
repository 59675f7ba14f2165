// A job file is a command: plan, run and submit read it, and what the command gives wins.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { withJob } from '../../src/cli/job/job-words.ts';
import { Console } from './console.ts';

const SHEET = 'prompt;price\na fox;1\nan owl;2\n';

async function opened(job: string): Promise<Console> {
  const console = await Console.open();
  mkdirSync(join(console.folder, 'sheets'));
  console.write('sheets/prompts.csv', SHEET);
  console.write('nightly.job.toml', job);
  return console;
}

const plan = (console: Console, ...more: readonly string[]) =>
  console.run('plan', join(console.folder, 'nightly.job.toml'), ...more, '-o', 'json');

/** The first requests of a plan, each as it would be sent. */
const requestsIn = (stdout: string): string =>
  (JSON.parse(stdout) as { readonly requests: readonly string[] }).requests.join('\n');

const JOB =
  'sheet = "sheets/prompts.csv"\ndeployment = "portraits"\nconcurrency = 3\nset = { seed = 9007199254740993, style = "oil" }\n';

describe('a job file', () => {
  it('has the sheet and the flags of a command; paths count from the file, and integers keep their digits', async () => {
    const { code, stdout } = await plan(await opened(JOB));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2, limits: { concurrency: 3 } });
    expect(requestsIn(stdout)).toContain('"seed":9007199254740993,"style":"oil"');
  });

  it('gives way to the flags of the command, input by input', async () => {
    const { code, stdout } = await plan(await opened(JOB), '-c', '5', '--set', 'seed=4');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ limits: { concurrency: 5 } });
    expect(requestsIn(stdout)).toContain('"seed":4,"style":"oil"');
  });

  it('that rehearses gives way to a service that the command names', async () => {
    const console = await opened(`local = true\n${JOB}`);
    const words = withJob([join(console.folder, 'nightly.job.toml'), '--service', 'production'], {});
    expect(words).not.toContain('--local');
    expect(words).toContain('--service');
  });

  it.each([
    ['max_cots = 3\n', 'names max_cots, which is nothing that a job has', 'did you mean max_cost?'],
    ['shet = "prompts.csv"\n', 'names shet', 'did you mean sheet?'],
    ['concurrency = [\n', 'is no TOML', 'in line'],
    ['shuffle = "yes"\n', 'shuffle in', 'is true or false'],
    ['max_cost = -1\n', '--max-cost', 'for example --max-cost 20'],
    ['schedule = 3\n', 'schedule in', '[schedule], then cron'],
    ['schedule = { cron = "0 2 * * *", zone = "x" }\n', 'names zone', 'names: cron'],
  ])('with %j is refused by name', async (line, what, hint) => {
    const { code, stdout } = await plan(await opened(`${JOB}${line}`));
    expect(code).toBe(2);
    expect(stdout).toContain(what);
    expect(stdout).toContain(hint);
  });

  it('with a value that its flag does not take is named where schedules are applied', async () => {
    const console = await opened(`${JOB}max_cost = -1\n[schedule]\ncron = "0 2 * * *"\n`);
    const { code, stderr } = await console.run('schedule', 'apply', console.folder);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/E602\]: \S+nightly\.job\.toml: --max-cost "-1"[^]*--max-cost 20/),
    ]);
  });

  it('that lacks a setting is named where schedules are applied, with the line that adds it', async () => {
    const console = await opened(`${JOB}[schedule]\ncron = "0 2 * * *"\n`);
    vi.stubEnv('RUNSHEET_API_URL', undefined);
    const { code, stderr } = await console.run('schedule', 'apply', console.folder);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /E305\][^]*--> \S+nightly\.job\.toml\n[^]*add above \[schedule\] in \S+:\n {2}local = true\n$/,
      ),
    ]);
    console.write('.#nightly.job.toml', 'is no job');
    console.write('nightly.job.toml', `${JOB}local = true\n[schedule]\ncron = "0 2 * * * *"\n`);
    expect((await console.run('schedule', 'apply', console.folder)).stderr).toMatch(
      /6 of 5 fields\n +--> \S+nightly\.job\.toml\n/,
    );
  });

  it('is written by plan with what was given and guessed, and is the same batch', async () => {
    const console = await opened(JOB);
    const job = join(console.folder, 'made.job.toml');
    const sheet = join(console.folder, 'sheets/prompts.csv');
    const command = [
      'plan',
      sheet,
      '-d',
      'portraits',
      '-c',
      '4',
      '--set',
      'seed=7',
      '--gpu',
      'H100',
      '-o',
      'json',
    ];
    const before = await console.run(...command, '--write', job);
    expect(before.code).toBe(0);
    expect(readFileSync(job, 'utf8')).toBe(
      'sheet = "sheets/prompts.csv"\ndeployment = "portraits"\nconcurrency = 4\ngpu = "H100"\nset = { seed = "7" }\ndelimiter = ";"\n',
    );
    const after = await console.run('plan', job, '-o', 'json');
    expect(JSON.parse(after.stdout)).toMatchObject({
      batch: (JSON.parse(before.stdout) as { batch: string }).batch,
    });
    const again = await console.run(...command, '--write', job);
    expect([again.code, again.stdout]).toEqual([2, expect.stringContaining('made.job.toml exists')]);
  });

  it('may have a grid instead of a sheet, with values that have commas, and is written with one', async () => {
    const grid = 'grid = { prompt = ["a fox, red", "an owl"], seed = "1..2" }';
    const console = await opened(`deployment = "portraits"\n${grid}\n`);
    const { code, stdout } = await plan(console);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ rows: 4 })]);
    expect(requestsIn(stdout)).toContain('"a fox, red"');
    const lines = console.write('sheets/prompts.txt', 'a fox, red\nan owl\n');
    const job = join(console.folder, 'made.job.toml');
    const flags = ['-d', 'portraits', '--grid', `prompt=@${lines}`, '--grid', 'seed=1..2', '-o', 'json'];
    const before = await console.run('plan', ...flags, '--write', job);
    expect(readFileSync(job, 'utf8')).toBe(
      'deployment = "portraits"\ngrid = { prompt = "@sheets/prompts.txt", seed = "1..2" }\n',
    );
    const after = await console.run('plan', job, '-o', 'json');
    const batchIn = (said: { readonly stdout: string }): unknown =>
      (JSON.parse(said.stdout) as { batch: string }).batch;
    expect([batchIn(before), batchIn(after)]).toEqual([batchIn({ stdout }), batchIn({ stdout })]);
  });
});
