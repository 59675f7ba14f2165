// Runs suites in a copy of the project, each kind in a process of its own, and says which claims failed. A suite that could
// not be run at all, or did not end, has noticed nothing: a bug that breaks the syntax would otherwise count as found.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { simulated } from './simulated.ts';
import type { Suite } from './mutant.ts';

export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly claims: readonly string[] }
  /** Nothing can be said: the suites did not end, or did not begin. */
  | { readonly kind: 'broken'; readonly reason: string };

const PATIENCE_MS = 180_000;
const SEEDS = 500;

/** The simulation last, and only where no test has noticed anything. */
export async function runSuites(folder: string, suites: readonly Suite[]): Promise<Verdict> {
  const files = suites.filter((suite) => suite !== 'simulation');
  const tested: Verdict = files.length > 0 ? await runTests(folder, files) : { kind: 'green' };
  if (tested.kind !== 'green' || !suites.includes('simulation')) return tested;
  const { code, said } = await run(folder, ['test/simulation/main.ts', '--seeds', String(SEEDS)]);
  if (code === 0) return { kind: 'green' };
  const claim = simulated(said);
  return claim === undefined
    ? { kind: 'broken', reason: lastOf(said) }
    : { kind: 'red', claims: [`simulation: ${claim}`] };
}

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

async function runTests(folder: string, files: readonly string[]): Promise<Verdict> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  // A claim fails twice, or not: on a busy machine the clock alone may fail one once.
  const words = ['run', ...files, '--retry=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const { code, said } = await run(folder, ['node_modules/vitest/vitest.mjs', ...words]);
  if (!existsSync(report)) return { kind: 'broken', reason: lastOf(said) };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const claims = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim()),
  );
  const mute = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (mute !== undefined || testResults.length !== files.length)
    return { kind: 'broken', reason: mute?.message ?? `${testResults.length} of ${files.length} suites ran` };
  if (claims.length > 0) return { kind: 'red', claims };
  return code === 0 ? { kind: 'green' } : { kind: 'broken', reason: lastOf(said) };
}

type Ended = { readonly code: number | null; readonly said: string };

function run(folder: string, words: readonly string[]): Promise<Ended> {
  // A test that runs these suites must not be taken for their own runner.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV|NODE_OPTIONS|TEST|DEV|PROD|MODE)/.test(name),
    ),
  );
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  let said = '';
  const hear = (chunk: Buffer): void => void (said += chunk.toString());
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) =>
      done({ code, said: signal === null ? said : `${said}\nit did not end within ${PATIENCE_MS / 1000} s` }),
    );
  });
}

const lastOf = (said: string): string => said.trim().split('\n').at(-1) ?? 'it said nothing';
