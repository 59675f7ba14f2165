// A refused command: its arguments and the expected error.

import { Writable } from 'node:stream';
import { execute } from '../../src/cli/execute.ts';
import type { Ended, Stage } from '../stage/stage.ts';

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

/** Runs commands in this process. */
export const here: Pick<Stage, 'run'> = {
  run: async (args): Promise<Ended> => {
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
  },
};

/** What is missing in the output of the command, which must be exactly one error with a code, a message and a hint. */
export async function missingFrom(stage: Pick<Stage, 'run'>, bad: Bad): Promise<readonly string[]> {
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
