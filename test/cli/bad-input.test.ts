// Words, numbers and times on the command line that cannot be meant: each command ends with its code, says which word is
// wrong and what helps, and buys nothing. Sheets stand in bad-sheets.test.ts, files and settings in bad-surroundings.long.test.ts.

import { describe, expect, it } from 'vitest';
import { mostConcurrency } from '../../src/batch/bounds.ts';
import { here, missingFrom, plan, type Bad } from './refused.ts';

const usage: readonly Bad[] = [
  [
    'an unknown flag',
    plan('--concurency', '5'),
    2,
    'E605',
    /no flag --concurency[^]*did you mean --concurrency\?/,
  ],
  ['a flag that is like no other', plan('--xyzzy'), 2, 'E605', /no flag --xyzzy[^]*runsheet plan --help/],
  ['an unknown short flag', plan('-z'), 2, 'E605', /no flag -z[^]*runsheet plan --help/],
  ['an unknown command', ['pln', 'ok.csv'], 2, 'E605', /no command "pln"[^]*did you mean plan\?/],
  ['a second sheet', plan('more.csv'), 2, 'E602', /"more\.csv" is an unexpected argument/],
  ['no sheet', ['plan', '-d', 'portraits'], 2, 'E602', /<sheet> is missing[^]*runsheet plan --help/],
  ['no deployment', ['plan', 'ok.csv'], 2, 'E602', /no deployment is given/],
  ['a flag without its value', plan('--out'), 2, 'E602', /--out needs a value/],
  [
    'a flag followed by another',
    plan('--out', '--again'),
    2,
    'E602',
    /--out needs a value, and --again follows/,
  ],
  ['a flag given twice', plan('--gpu', 'L4', '--gpu', 'T4'), 2, 'E602', /--gpu is given twice/],
  ['a value that is none of several', plan('--output', 'xml'), 2, 'E602', /--output "xml"[^]*text, json/],
  ['a boolean that is none', plan('--again=maybe'), 2, 'E602', /--again "maybe"/],
  ['a name that is a path', plan('--name', '../x'), 2, 'E602', /--name "\.\.\/x"/],
  ['an empty value', plan('--key', ''), 2, 'E602', /--key "" is empty/],
  ['half a pair', plan('--map', 'x'), 2, 'E602', /--map x/],
  ['two values for one input', plan('--set', 'a=1', '--set', 'a=2'), 2, 'E602', /--set a is given twice/],
  [
    'an unknown type',
    plan('--type', 'seed=intt'),
    2,
    'E602',
    /--type seed=intt has an unknown type[^]*did you mean int\?/,
  ],
];

const numbers: readonly Bad[] = [
  ...['0', '-1', '1.5', 'NaN', '1e3', '3001', '99999999999'].map((value): Bad => [
    `--concurrency ${value}`,
    plan('-c', value),
    2,
    'E602',
    new RegExp(`--concurrency "${value}" is not a whole number from 1 to 3,000`),
  ]),
  [
    'more runs at the same time than so many retries allow',
    plan('-c', '2000', '--retries', '20'),
    2,
    'E602',
    new RegExp(`--concurrency 2,000[^]*21 attempts[^]*at most --concurrency ${mostConcurrency(20)}`),
  ],
  ...['-1', 'NaN', '21'].map((value): Bad => [
    `--retries ${value}`,
    plan('--retries', value),
    2,
    'E602',
    /from 0 to 20/,
  ]),
  ...['0', '-1', 'all'].map((value): Bad => [
    `--limit ${value}`,
    plan('--limit', value),
    2,
    'E602',
    /--limit .* from 1 to/,
  ]),
  ...['run-timeout', 'queue-timeout'].flatMap((flag) =>
    ['0', '1ms', '-5', 'NaN', 'Infinity', '1e3s', '99999999999d'].map((value): Bad => [
      `--${flag} ${value}`,
      plan(`--${flag}`, value),
      2,
      'E602',
      new RegExp(`--${flag} "${value}" is not a time from 1s to 365d`),
    ]),
  ),
  ...['resubmit-after=0', 'resubmit-after=1ms', 'resubmit-after=x', 'unknwn'].map((value): Bad => [
    `--unconfirmed ${value}`,
    plan('--unconfirmed', value),
    2,
    'E602',
    /--unconfirmed "/,
  ]),
  ...(
    [
      ['--fail-after', '0%', '101%', 'many'],
      ['--deadline', '2020-01-01T00:00', 'soon', '12', '999999999d', '2026-12-24'],
      ['--retry', 'memory=2'],
      ['--rate', '0'],
      ['--max-cost', '0', '-1', 'much', '1e3', '1000001', '0.0000000001'],
    ] as const
  ).flatMap(([flag, ...values]) =>
    values.map((value): Bad => [
      `${flag} ${value}`,
      plan(`${flag}=${value}`),
      2,
      'E602',
      new RegExp(`${flag} "${value}"`),
    ]),
  ),
  ['wait --timeout -1', ['wait', '--timeout', '-1'], 2, 'E602', /--timeout "-1"/],
  ['clean --older-than x', ['clean', '--older-than', 'x'], 2, 'E602', /--older-than "x"/],
  ['service --port 99999', ['service', '--port', '99999'], 2, 'E602', /--port "99999" .* from 0 to 65,535/],
  ...['0', '-1', 'NaN', '1e400'].map((value): Bad => [
    `service --speed ${value}`,
    ['service', '--speed', value],
    2,
    'E602',
    /--speed /,
  ]),
];

// Nothing is asked of a service, a cluster or a folder before such a command is refused, so it needs no process.
describe('the command line', () => {
  it.each([...usage, ...numbers].map((bad) => ({ name: bad[0], bad })))('refuses $name', async ({ bad }) => {
    expect(await missingFrom(here, bad)).toEqual([]);
  });

  it('reports the same error as JSON', async () => {
    const args = [
      plan('-o', 'json', '--bogus'),
      plan('--output=json', '--limit', '0'),
      ['pln', '-o', 'json'],
    ];
    const ended = await Promise.all(args.map((one) => here.run(one)));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(args.map(() => [2, '']));
    const codes = ended.map(({ stdout }) => (JSON.parse(stdout) as { error: { code: string } }).error.code);
    expect(codes).toEqual(['E605', 'E602', 'E605']);
  });
});
