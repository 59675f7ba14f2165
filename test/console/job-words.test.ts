// A job file and the words of a command say the same, however the parser lets a flag be written.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LETTERS } from '../../src/cli/command.ts';
import { withJob } from '../../src/cli/job/job-words.ts';
import { writeJob } from '../../src/cli/job/write-job.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

/** The file of a job in another folder than the command's, and the words that it becomes. */
function written(...words: readonly string[]): { readonly file: string; readonly words: readonly string[] } {
  const path = join(freshFolder(), 'a.job.toml');
  writeJob(path, ['plan', ...words], '-', [], LETTERS);
  return { file: readFileSync(path, 'utf8'), words: withJob(['run', path], LETTERS).slice(1) };
}

describe('a job that plan writes', () => {
  it.each([
    [
      ['--maxCost', '5'],
      ['--max-cost', '5'],
    ],
    [['-c=3'], ['--concurrency', '3']],
    [['--max-cost=5'], ['--max-cost', '5']],
    [['--reuse=false', '--again=no'], []],
    [['--again=yes'], ['--again']],
    [['--no-unique'], ['--no-unique']],
    [
      ['--sheet-name', '2024.10', '-d', '1.20'],
      ['--deployment', '1.20', '--sheet-name', '2024.10'],
    ],
  ])('keeps %j', (job, words) => {
    expect(written(...job).words).toEqual(words);
  });

  it('keeps all servers of one GPU, and targets that differ only behind a =', () => {
    const words = ['--comfyui', 'L4=http://a:1', '--comfyui', 'L4=http://b:1'];
    const targets = ['--notify', 'https://h/?id=1', '--notify', 'https://h/?id=2'];
    expect(written(...words, ...targets).words).toEqual([...words, ...targets]);
  });

  it('names the same files from its own folder', () => {
    const { words } = written('--workflow', 'portrait=wf.json', '--notify', 'exec:./hook.sh');
    expect(words).toEqual([
      '--workflow',
      `portrait=${join(process.cwd(), 'wf.json')}`,
      '--notify',
      `exec:${join(process.cwd(), 'hook.sh')}`,
    ]);
  });
});

describe('a job of a command', () => {
  it.each([
    [['-c', '3'], ['-c=9']],
    [
      ['--max-cost', '3'],
      ['--maxCost', '9'],
    ],
    [['--no-unique'], ['--unique']],
    [
      ['--where', 'a=1'],
      ['--where', 'a = 2'],
    ],
    [
      ['--notify', 'https://h/?id=1'],
      ['--notify', 'https://other/'],
    ],
    [['--set', 'prompt=a'], ['--set=prompt=b']],
  ])('with %j gives way to %j', (own, flags) => {
    const path = join(freshFolder(), 'a.job.toml');
    writeJob(path, own, '-', [], LETTERS);
    expect(withJob(['run', path, ...flags], LETTERS)).toEqual(['run', ...flags]);
  });

  it.each([
    [['--reuse'], ['--again=false'], ['--reuse', '--again=false']],
    [['--again'], ['--again=no'], ['--again=no']],
    [['--reuse'], ['--again=yes'], ['--again=yes']],
  ])('with %j beside %j is %j', (own, flags, words) => {
    const path = join(freshFolder(), 'a.job.toml');
    writeJob(path, own, '-', [], LETTERS);
    expect(withJob(['run', path, ...flags], LETTERS)).toEqual(['run', ...words]);
  });

  it('is not the file that --write=… names', () => {
    const words = ['plan', 'prompts.csv', '--write=a.job.toml'];
    expect(withJob(words, LETTERS)).toEqual(words);
  });
});
