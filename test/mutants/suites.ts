// Runs test files in a copy of the project and returns the claims that failed. A file that could not run, or did not
// end, counts as broken: otherwise a syntax error would count as noticed.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly claims: readonly string[] }
  /** No result: the tests did not start, or did not end. */
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
  // Only a claim that fails twice counts: on a busy machine a time limit may fail once.
  const options = ['--retry=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const { code, output } = await run(folder, ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options]);
  if (!existsSync(report)) return { kind: 'broken', reason: lastLineOf(output) };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const claims = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim()),
  );
  const empty = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (empty !== undefined || testResults.length !== files.length)
    return { kind: 'broken', reason: empty?.message ?? `${testResults.length} of ${files.length} files ran` };
  if (claims.length > 0) return { kind: 'red', claims };
  return code === 0 ? { kind: 'green' } : { kind: 'broken', reason: lastLineOf(output) };
}

type Ended = { readonly code: number | null; readonly output: string };

function run(folder: string, args: readonly string[]): Promise<Ended> {
  // The child must not inherit the variables of the test runner that may run this code.
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
  const append = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) =>
      done({
        code,
        output: signal === null ? output : `${output}\nthe tests did not end within ${TIMEOUT_MS / 1000} s`,
      }),
    );
  });
}

const lastLineOf = (output: string): string => output.trim().split('\n').at(-1) ?? 'no output';
