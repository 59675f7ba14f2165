// A folder from a stranger: a clone or an archive, whose settings and jobs may be anything that a file system knows.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';

const NOT_PLAIN = 'cannot be read: it is no plain file';

describe.each([
  ['runsheet.toml', ['list']],
  ['nightly.job.toml', ['plan', 'nightly.job.toml']],
  ['jobs/nightly.job.toml', ['schedule', 'apply', 'jobs']],
  ['config/runsheet/config.toml', ['list']],
])('%s of a stranger', (name, command) => {
  const stage = freshStage(async (at) => {
    at.environment = { XDG_CONFIG_HOME: at.path('config') };
    mkdirSync(dirname(at.path(name)), { recursive: true });
  });

  /** A command that reads the file without an end is killed. */
  const refusal = async (): Promise<string> => {
    const running = stage.start(command);
    const late = setTimeout(() => running.child.kill('SIGKILL'), 10_000);
    const { code, stderr } = await running.ended;
    clearTimeout(late);
    expect([code, stderr.slice(0, 300)]).toEqual([2, expect.stringContaining('E602')]);
    return stderr;
  };

  it('that is a link to an endless device is refused', async () => {
    symlinkSync('/dev/zero', stage.path(name));
    expect(await refusal()).toContain(NOT_PLAIN);
  });

  it('that is a pipe is refused and not waited for', async () => {
    execFileSync('mkfifo', [stage.path(name)]);
    expect(await refusal()).toContain(NOT_PLAIN);
  });

  it('that is a socket is refused', async () => {
    const server = createServer().listen(stage.path(name));
    onTestFinished(() => void server.close());
    expect(await refusal()).toContain('cannot be read: it is not a file');
  });

  it('that is larger than a person writes is refused', async () => {
    const names = Array.from({ length: 300_000 }, (_, at) => `input${at} = "x"`);
    stage.write(name, `deployment = "portraits"\n[set]\n${names.join('\n')}\n`);
    expect(await refusal()).toContain('cannot be read: it has more than 256 KB');
  });
});

describe('a job of many values', () => {
  const stage = freshStage();

  it('on the command line is read in linear time: 300,000', async () => {
    const { flagsIn } = await import('../../src/cli/job/job-words.ts');
    const words = Array.from({ length: 300_000 }, (_, at) => ['--set', `input${at}=x`]).flat();
    const begun = performance.now();
    expect(flagsIn(words, {}).get('--set')).toHaveLength(300_000);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  it.each([
    [5_000, 'E101'],
    [20_000, 'E602'],
  ])('in a file is read in seconds, or refused: %s', async (values, code) => {
    const names = Array.from({ length: values }, (_, at) => `i${at} = 1`);
    stage.write('nightly.job.toml', `sheet = "x.csv"\n[set]\n${names.join('\n')}\n`);
    const begun = performance.now();
    const { stderr } = await stage.run(['plan', '-d', 'portraits', 'nightly.job.toml']);
    expect(stderr).toContain(code);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});

describe('a batch folder of a stranger', () => {
  const stage = freshStage();

  it.each<[string, (path: string) => unknown]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a link to an endless device', (path) => symlinkSync('/dev/zero', path)],
  ])('with %s in the place of its batch.json keeps no command waiting', async (_, make) => {
    mkdirSync(stage.path('batches/theirs'), { recursive: true });
    make(stage.path('batches/theirs/batch.json'));
    const listed = await stage.runHere(['list']);
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('is no plain file') });
    expect((await stage.runHere(['status', 'theirs'])).stderr).toContain('is no plain file');
    expect((await stage.runHere(['__complete', 'run', '-d', ''])).code).toBe(0);
  });
});
