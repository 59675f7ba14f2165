// Applies each mutant to a copy of the project and runs the test file that guards its rule, in a few copies concurrently.

import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { mutate, ROOT, sourceOf, type Mutant } from './mutant.ts';

/** `broken`: the tests did not start, or did not end; otherwise a syntax error would count as noticed. */
export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly claims: readonly string[] }
  | { readonly kind: 'broken'; readonly reason: string };

export type MutantResult = { readonly mutant: Mutant; readonly verdict: Verdict; readonly seconds: number };

const TIMEOUT_MS = 600_000;
const COPIED = [
  'src',
  'workflows',
  'activities',
  'test',
  'bin',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

/** Returns the result of each mutant in order; `onResult` is called as soon as each is known. */
export async function killAll(
  mutants: readonly Mutant[],
  concurrency: number,
  onResult: (result: MutantResult) => void = () => undefined,
): Promise<readonly MutantResult[]> {
  const copies = Array.from({ length: concurrency }, copyProject);
  const free = [...copies];
  const kill = async (mutant: Mutant): Promise<MutantResult> => {
    const startedMs = performance.now();
    const folder = free.pop() as string;
    writeFileSync(join(folder, mutant.file), mutate(mutant, sourceOf(mutant)));
    const verdict = await runSuites(folder, [mutant.by]);
    writeFileSync(join(folder, mutant.file), sourceOf(mutant));
    free.push(folder);
    const result = { mutant, verdict, seconds: (performance.now() - startedMs) / 1000 };
    onResult(result);
    return result;
  };
  try {
    return await pMap(mutants, kill, { concurrency });
  } finally {
    for (const folder of copies) rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the same test files in the unchanged project. */
export async function control(mutants: readonly Mutant[]): Promise<Verdict> {
  const folder = copyProject();
  try {
    return await runSuites(folder, [...new Set(mutants.map(({ by }) => by))]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The copy links the project's packages, but has its own caches, so that no other run uses a broken workflow bundle. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-mutants-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(packages))
    if (!name.startsWith('.')) symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  return folder;
}

type Report = {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

async function runSuites(folder: string, files: readonly string[]): Promise<Verdict> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  // Only a claim that fails twice counts: on a busy machine a time limit may fail once.
  const options = ['--retry=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const fault = await run(folder, ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options]);
  if (!existsSync(report)) return { kind: 'broken', reason: fault ?? 'no report' };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const claims = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim()),
  );
  const empty = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (empty !== undefined || testResults.length !== files.length)
    return { kind: 'broken', reason: empty?.message ?? `${testResults.length} of ${files.length} files ran` };
  if (claims.length > 0) return { kind: 'red', claims };
  return fault === undefined ? { kind: 'green' } : { kind: 'broken', reason: fault };
}

/** The last line of a command that failed; undefined if it succeeded. */
function run(folder: string, args: readonly string[]): Promise<string | undefined> {
  // The child must not inherit the variables of the test runner that may run this code.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV|NODE_OPTIONS|TEST|DEV|PROD|MODE)/.test(name),
    ),
  );
  const options = {
    cwd: folder,
    env,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 30,
  } as const;
  return new Promise((done) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done(error === null ? undefined : (`${stdout}${stderr}`.trim().split('\n').at(-1) ?? error.message)),
    );
  });
}
