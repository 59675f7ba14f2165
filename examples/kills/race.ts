// A batch and a loop under the same kills: npm run demo [-- --rows 120 --kills 9].
//
// Two local run services of the same kind each get the same rows: one from `runsheet run`, the other from loop.ts, a loop as many
// people write it. Every few seconds, SIGKILL ends both clients, and both are started again by the same command. At the end, each
// service says how many runs it has sold. Nothing is left behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PROGRAM = join(import.meta.dirname, '../../bin/runsheet.mjs');
const LOOP = join(import.meta.dirname, 'loop.ts');
const CONCURRENCY = 6;
const GAP_MS = { least: 1_000, spread: 3_000 };
const PAGE = 1_000;

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '120' }, kills: { type: 'string', default: '9' } },
});
const [rows, kills] = [Number(values.rows), Number(values.kills)];

type Service = {
  readonly base: string;
  readonly key: string;
  readonly deployment: string;
  readonly workflow: string;
};
type Sold = { readonly runs: number; readonly twice: number; readonly succeeded: number };

await using opened = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'runsheet-kills-'));
opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
process.once('SIGINT', () => void opened.disposeAsync().then(() => process.exit(130)));

const deployments = join(folder, 'deployments.json');
const deployment = { name: 'portraits', concurrencyLimit: CONCURRENCY, coldStartSeconds: 1, runSeconds: 2 };
writeFileSync(deployments, JSON.stringify([deployment]));
const sheet = join(folder, 'rows.csv');
const lines = Array.from({ length: rows }, (_, at) => `${at + 1},portrait ${at + 1}`);
writeFileSync(sheet, ['number,prompt', ...lines, ''].join('\n'));

const [ours, theirs] = await Promise.all([startService(), startService()]);
console.log(`${rows} rows: a batch, and a loop as people write it. SIGKILL ends both ${kills} times.`);

const batch = keepRunning(
  [PROGRAM, 'run', sheet, '-d', 'portraits', '-c', String(CONCURRENCY)],
  settingsOf(ours),
);
opened.defer(() => batch.end());
// The loop has no servers to start, so it waits for the first run of the batch.
while ((await soldBy(ours)).runs === 0 && !batch.isDone()) await wait(250);
const loop = keepRunning([LOOP, String(rows), String(CONCURRENCY), theirs.deployment], settingsOf(theirs));
opened.defer(() => loop.end());

let killed = 0;
while (killed < kills) {
  const { runs } = await soldBy(ours);
  await wait(GAP_MS.least + Math.random() * GAP_MS.spread);
  // A batch that has not sent anything since the last kill loses nothing by another one.
  if (batch.isDone()) break;
  if ((await soldBy(ours)).runs === runs) continue;
  killed += 1;
  batch.restart();
  loop.restart();
  await print();
}
await Promise.all([batch.done, loop.done]);
await print();

async function print(): Promise<void> {
  const [batchSold, loopSold] = await Promise.all([soldBy(ours), soldBy(theirs)]);
  console.log(
    `after ${killed} ${killed === 1 ? 'kill' : 'kills'}: runsheet ${textOf(batchSold)}; loop ${textOf(loopSold)}`,
  );
}

function textOf({ runs, twice, succeeded }: Sold): string {
  return `${succeeded}/${rows} rows, ${runs} runs, ${twice} bought twice`;
}

/** Starts a local run service with a database of its own. */
async function startService(): Promise<Service> {
  const child = start([PROGRAM, 'service', '--port', '0', '--deployments', deployments, '-o', 'json'], {});
  opened.defer(() => stop(child));
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    if (!printed.trimEnd().endsWith('}')) continue;
    const { base, tokens } = JSON.parse(printed) as { base: string; tokens: [string] };
    const [key] = tokens;
    const [{ id, workflow_id }] = (await ask(base, key, '/deployments')) as [
      { id: string; workflow_id: string },
    ];
    return { base, key, deployment: id, workflow: workflow_id };
  }
  throw new Error(`the run service ended: ${printed}`);
}

function settingsOf({ base, key }: Service): Record<string, string> {
  return { RUNSHEET_API_URL: base, RUNSHEET_API_KEY: key };
}

/** Reads what a service has sold from its own list, so that neither client counts for itself. */
async function soldBy({ base, key, workflow }: Service): Promise<Sold> {
  type Run = { readonly workflow_inputs: { readonly number: unknown }; readonly status: string };
  const runs: Run[] = [];
  const path = `/workflow/${workflow}/runs?with_inputs=true&limit=${PAGE}`;
  do runs.push(...((await ask(base, key, `${path}&offset=${runs.length}`)) as Run[]));
  while (runs.length > 0 && runs.length % PAGE === 0);
  const rowsOf = (some: readonly Run[]): number =>
    new Set(some.map((run) => String(run.workflow_inputs.number))).size;
  return {
    runs: runs.length,
    twice: runs.length - rowsOf(runs),
    succeeded: rowsOf(runs.filter(({ status }) => status === 'success')),
  };
}

async function ask(base: string, key: string, path: string): Promise<unknown> {
  const response = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

type Kept = { readonly done: Promise<void>; isDone(): boolean; restart(): void; end(): Promise<void> };

/** Runs a program until it ends by itself; `restart` kills it and starts the same command again. */
function keepRunning(args: readonly string[], settings: Record<string, string>): Kept {
  const done = Promise.withResolvers<void>();
  // A failure is thrown where both ends are awaited, after what was opened is closed again.
  done.promise.catch(() => undefined);
  let isDone = false;
  let child: ChildProcess;
  const begin = (): void => {
    const begun = start(args, settings);
    child = begun;
    begun.stdout?.resume();
    begun.once('exit', (code) => {
      if (begun !== child || code === null) return;
      isDone = true;
      if (code === 0) done.resolve();
      else done.reject(new Error(`${args.join(' ')} ended with ${code}`));
    });
  };
  begin();
  return {
    done: done.promise,
    isDone: () => isDone,
    restart: () => {
      if (isDone) return;
      child.kill('SIGKILL');
      begin();
    },
    end: () => stop(child),
  };
}

function start(args: readonly string[], settings: Record<string, string>): ChildProcess {
  const environment = Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|TEMPORAL)_/.test(name));
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(environment), RUNSHEET_HOME: join(folder, 'state'), ...settings },
  });
  let said = '';
  child.stderr.on('data', (text) => (said = `${said}${text}`.slice(-2_000)));
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) console.error(said);
  });
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}
