// Runs test files in a copy of the project and says which claims failed. A file that could not be run at all, or did not end,
// has noticed nothing: a bug that breaks the syntax would otherwise count as found.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly claims: readonly string[] }
  /** Nothing can be said: the tests did not end, or did not begin. */
  | { readonly kind: 'broken'; readonly reason: string };

const TIMEOUT_MS = 600_000;

type Report = {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

export async function runSuites(folder: string, files: readonly string[]): Promise<Verdict> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  // A claim fails twice, or not: on a busy machine the clock alone may fail one once.
  const options = ['--retry=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const { code, output } = await run(folder, ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options]);
  if (!existsSync(report)) return { kind: 'broken', reason: lastLineOf(output) };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const claims = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim()),
  );
  const mute = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (mute !== undefined || testResults.length !== files.length)
    return { kind: 'broken', reason: mute?.message ?? `${testResults.length} of ${files.length} files ran` };
  if (claims.length > 0) return { kind: 'red', claims };
  return code === 0 ? { kind: 'green' } : { kind: 'broken', reason: lastLineOf(output) };
}

type Ended = { readonly code: number | null; readonly output: string };

function run(folder: string, args: readonly string[]): Promise<Ended> {
  // A test that runs these files must not be taken for their own runner.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV|NODE_OPTIONS|TEST|DEV|PROD|MODE)/.test(name),
    ),
  );
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const hear = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) =>
      done({
        code,
        output: signal === null ? output : `${output}\nit did not end within ${TIMEOUT_MS / 1000} s`,
      }),
    );
  });
}

const lastLineOf = (output: string): string => output.trim().split('\n').at(-1) ?? 'no output';
