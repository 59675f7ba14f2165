// A refused command: its arguments and the expected error.

import type { Stage } from '../stage/stage.ts';

export type Bad = readonly [
  name: string,
  args: readonly string[],
  exit: number,
  code: string,
  said: RegExp,
  environment?: Readonly<Record<string, string>>,
];

export const plan = (...args: readonly string[]): readonly string[] => [
  'plan',
  'ok.csv',
  '-d',
  'portraits',
  ...args,
];

/** Stands in addresses that are refused, and must never be shown. */
export const PASSWORD = 'hunter2hunter2';

/** What is missing in the output of the command, which must be exactly one error with a code, a message and a hint. */
export async function missingFrom(stage: Stage, bad: Bad): Promise<readonly string[]> {
  const [, args, exit, code, said, environment = {}] = bad;
  const { stdout, stderr, code: ended } = await stage.run(args, environment);
  const wanted: readonly (readonly [string, boolean])[] = [
    [`exit code ${exit}`, ended === exit],
    [code, stderr.includes(`error[${code}]`)],
    [String(said), said.test(stderr)],
    ['a hint', stderr.includes('hint: ')],
    ['no stack', !/\n\s+at /.test(stderr)],
    ['no password', !stderr.includes(PASSWORD)],
    ['an empty stdout', stdout === ''],
  ];
  const missing = wanted.filter(([, isThere]) => !isThere).map(([what]) => what);
  return missing.length === 0 ? [] : [...missing, `it ended with ${ended} and said: ${stderr}${stdout}`];
}
