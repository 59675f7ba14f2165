// A command that is refused: what was typed, and what must be said of it.

import type { Stage } from '../stage/stage.ts';

export type Bad = readonly [
  name: string,
  words: readonly string[],
  exit: number,
  code: string,
  said: RegExp,
  environment?: Readonly<Record<string, string>>,
];

export const plan = (...words: readonly string[]): readonly string[] => [
  'plan',
  'ok.csv',
  '-d',
  'portraits',
  ...words,
];

/** Stands in addresses that are refused, and must never be shown. */
export const PASSWORD = 'hunter2hunter2';

/** What the command's ending lacks: it must be one coded error, said in words with what helps, and nothing else. */
export async function missingFrom(stage: Stage, bad: Bad): Promise<readonly string[]> {
  const [, words, exit, code, said, environment = {}] = bad;
  const { stdout, stderr, code: ended } = await stage.run(words, environment);
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
