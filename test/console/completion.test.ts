// The shell proposes what may follow, from the commands themselves and from what is known here.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { batches, deployments, keepNames } from '../../src/cli/completion/proposals.ts';
import { Console } from './console.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

async function opened() {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', 'prompt\na\n');
  await console.batch(sheet, 'first');
  await console.batch(sheet, 'fire');
  const home = join(console.folder, 'home');
  keepNames({ home }, 'deployments', ['listed', 'with blank', 'bad\u001B[2J']);
  keepNames({ home }, 'schedules', ['nightly']);
  keepNames({ home }, 'pools', ['gpus']);
  const propose = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await console.run('__complete', ...words);
    return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
  };
  return { console, propose };
}

describe('completion', () => {
  it.each<readonly [line: string, proposals: readonly string[]]>([
    ['dep', ['deployments']],
    ['schedule tri', ['trigger']],
    ['run --conc', ['--concurrency']],
    ['status fi', ['fire', 'first']],
    ['show fir', ['fire', 'first']],
    ['status --output ', ['json', 'text']],
    ['run x.csv -d li', ['listed']],
    ['run x.csv -d p', ['portraits']],
    ['run x.csv --gpu H1', ['H100']],
    ['run x.csv --pool ', ['gpus']],
    ['run x.csv --into f', ['fire', 'first']],
    ['schedule show ', ['nightly']],
    ['pool show ', ['gpus']],
    ['deployments w', ['with blank']],
    ['deployments b', []],
    ['run --unknown x', []],
    ['run shee', []],
  ])('%s', async (line, proposals) => {
    const { propose } = await opened();
    const words = await propose(...line.split(' '));
    expect(words.toSorted()).toEqual(proposals.toSorted());
  });

  it('proposes batches in S3 that were listed', () => {
    const folder = freshFolder();
    vi.stubEnv('RUNSHEET_HOME', folder);
    vi.stubEnv('RUNSHEET_OUT', 's3://bucket/batches');
    keepNames({ home: folder }, 'batches', ['first', 'second']);
    expect([batches('f'), deployments('')]).toEqual([['first'], []]);
    vi.unstubAllEnvs();
  });

  it('remembers the deployments that were listed', async () => {
    const { console, propose } = await opened();
    await console.run('deployments');
    expect(await propose('run', 'x.csv', '-d', 'fr')).toEqual(['free']);
  });

  it('in bash completes words, and quotes those with a blank', async () => {
    const { console } = await opened();
    const { stdout: script } = await console.run('completion', 'bash');
    const bin = join(console.folder, 'bin');
    mkdirSync(bin);
    chmodSync(bin, 0o755);
    const program = console.write(
      'bin/runsheet',
      `#!/bin/sh\nexec '${process.execPath}' '${programFile()}' "$@"\n`,
    );
    chmodSync(program, 0o755);
    const typed = (...words: readonly string[]): string =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _runsheet; echo "\${COMPREPLY[*]}"`;
    const lines = [script, typed('runsheet', 'stat'), typed('runsheet', 'deployments', 'wi')].join('\n');
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    const said = execFileSync('bash', ['--norc', '-c', lines], { env, encoding: 'utf8' });
    expect(said.split('\n').map((line) => line.trim())).toEqual(['status', String.raw`with\ blank`, '']);
  });

  it.each(['zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { console } = await opened();
    const { code, stdout } = await console.run('completion', shell);
    expect([code, stdout]).toEqual([0, expect.stringContaining('runsheet __complete')]);
  });
});
