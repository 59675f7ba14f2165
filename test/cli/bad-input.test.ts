// Words, numbers and times on the command line that cannot be meant: each command ends with its code, says which word is
// wrong and what helps, and buys nothing. Nothing is asked of a service, a cluster or a folder before, so none needs a process.

import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { mostConcurrency } from '../../src/batch/bounds.ts';
import { execute } from '../../src/cli/main.ts';

type Bad = readonly [name: string, args: readonly string[], code: string, said: RegExp];

const plan = (...args: readonly string[]): readonly string[] => [
  'plan',
  'ok.csv',
  '-d',
  'portraits',
  ...args,
];

const BAD: readonly Bad[] = [
  ['a flag that is like no other', plan('--xyzzy'), 'E605', /no flag --xyzzy[^]*runsheet plan --help/],
  ['an unknown short flag', plan('-z'), 'E605', /no flag -z[^]*runsheet plan --help/],
  ['no sheet', ['plan', '-d', 'portraits'], 'E602', /<sheet> is missing[^]*runsheet plan --help/],
  [
    'a flag followed by another',
    plan('--out', '--again'),
    'E602',
    /--out needs a value, and --again follows/,
  ],
  ['a flag given twice', plan('--gpu', 'L4', '--gpu', 'T4'), 'E602', /--gpu is given twice/],
  ['a boolean that is none', plan('--again=maybe'), 'E602', /--again "maybe"/],
  ['a name that is a path', plan('--name', '../x'), 'E602', /--name "\.\.\/x"/],
  ['an empty value', plan('--key', ''), 'E602', /--key "" is empty/],
  ['half a pair', plan('--map', 'x'), 'E602', /--map x/],
  ['two values for one input', plan('--set', 'a=1', '--set', 'a=2'), 'E602', /--set a is given twice/],
  [
    'an unknown type',
    plan('--type', 'seed=intt'),
    'E602',
    /--type seed=intt has an unknown type[^]*did you mean int\?/,
  ],
  [
    '--concurrency 0',
    plan('-c', '0'),
    'E602',
    /"0" is not a whole number from 1 to 3,000[^]*hint: for example/,
  ],
  [
    'more runs at the same time than so many retries allow',
    plan('-c', '2000', '--retries', '20'),
    'E602',
    new RegExp(`--concurrency 2,000[^]*21 attempts[^]*at most --concurrency ${mostConcurrency(20)}`),
  ],
  ['wait --timeout -1', ['wait', '--timeout', '-1'], 'E602', /--timeout "-1"/],
  ['clean --older-than x', ['clean', '--older-than', 'x'], 'E602', /--older-than "x"/],
  ['service --port 99999', ['service', '--port', '99999'], 'E602', /--port "99999" .* from 0 to 65,535/],
  ['service --speed 1e400', ['service', '--speed', '1e400'], 'E602', /--speed /],
];

async function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _, done) {
        texts[name] += chunk.toString();
        done();
      },
    });
  const own = { env: {}, stdout: stream('stdout'), stderr: stream('stderr') };
  const code = await execute(args, { process: own as unknown as NodeJS.Process, program: 'runsheet' });
  return { code, ...texts };
}

describe('the command line', () => {
  it.each(BAD)('refuses %s', async (_, args, code, said) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(said) });
    expect(ended.stderr).toContain(`error[${code}]`);
    expect(ended.stderr).toContain('hint: ');
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });

  it('reports the same error as JSON', async () => {
    const args = [
      plan('-o', 'json', '--bogus'),
      plan('--output=json', '--limit', '0'),
      ['pln', '-o', 'json'],
    ];
    const ended = await Promise.all(args.map((words) => run(words)));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(args.map(() => [2, '']));
    const codes = ended.map(({ stdout }) => (JSON.parse(stdout) as { error: { code: string } }).error.code);
    expect(codes).toEqual(['E605', 'E602', 'E605']);
  });
});
