// Runs real processes in a temporary folder for end-to-end tests: commands, a run service, a Temporal server, workers.
// `close` ends every process that was started.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { loadConfig } from '../../src/host/settings/config.ts';
import { connectRunService } from '../../src/service-client/client.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { choosePorts } from '../../src/temporal/embedded/ports.ts';
import { startServer } from '../../src/temporal/embedded/temporal-server.ts';
import { installedIn, ownEnvironment } from './command.ts';
import { familyOf, isAlive, killQuietly, strays } from './processes.ts';

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
type StageEnvironment = Readonly<Record<string, string>>;

export const KEY = 'stage-key-0123456789';
const PATIENCE_MS = 90_000;

type Temporal = {
  readonly restart: () => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly pid: () => number;
  readonly ended: () => Promise<unknown>;
};

/** The file of `--deployments`: by default they are called portraits, start warm, and make small pictures. */
export const deploymentsOf = (...specs: readonly Readonly<Record<string, unknown>>[]): string =>
  JSON.stringify(specs.map((spec) => ({ name: 'portraits', coldStartSeconds: 0, pictureSize: 16, ...spec })));

/** A process of the command line, with its output so far. */
export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  #waiting: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => this.#append('stdout', chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#append('stderr', chunk));
    this.ended = once(child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
    void this.ended.then(() => this.#wake());
  }

  #append(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this[stream] += chunk.toString();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Waits for the first match in the output; rejects if the process ends without one. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const last = Date.now() + PATIENCE_MS;
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match;
      const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
      if (hasEnded || Date.now() > last)
        throw new Error(`the process did not print ${pattern}:\n${this.stdout}\n${this.stderr}`);
      await Promise.race([new Promise<void>((done) => this.#waiting.push(done)), wait(1_000)]);
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Sends SIGKILL to the process and all of its descendants. */
  async killTree(): Promise<void> {
    const pids = familyOf(this.child.pid);
    for (const pid of pids) killQuietly(pid);
    await this.ended;
    await until(() => pids.every((pid) => !isAlive(pid)), 'the whole process tree has ended');
  }
}

export class Stage {
  #made: { readonly folder: string; readonly bin: string } | undefined;
  readonly #running: Running[] = [];
  readonly #closers: (() => Promise<unknown>)[] = [];
  #outside: { readonly folder: string; readonly environment: NodeJS.ProcessEnv } | undefined;
  environment: StageEnvironment = {};

  get #folders(): { readonly folder: string; readonly bin: string } {
    const made = (name: string): string => mkdtempSync(join(tmpdir(), `runsheet-${name}-`));
    return (this.#made ??= { folder: made('stage'), bin: made('bin') });
  }

  get folder(): string {
    return this.#folders.folder;
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  write(name: string, text: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Writes a sheet with different rows; every second row has a seed beyond 2^53. */
  sheet(rows: number, name = 'sheet.csv'): string {
    const lines = Array.from(
      { length: rows },
      (_, at) =>
        `${at + 1},portrait ${at + 1},${at % 2 === 0 ? 18_446_744_073_709_551_615n - BigInt(at) : at}`,
    );
    return this.write(name, `number,prompt,seed\n${lines.join('\n')}\n`);
  }

  start(
    args: readonly string[],
    environment: StageEnvironment = {},
    program = installedIn(this.#folders.bin),
    cwd = this.folder,
  ): Running {
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { ...ownEnvironment(), XDG_STATE_HOME: this.path('state'), ...this.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const running = new Running(child);
    this.#running.push(running);
    return running;
  }

  run(
    args: readonly string[],
    environment: StageEnvironment = {},
    program = installedIn(this.#folders.bin),
  ): Promise<Ended> {
    return this.start(args, environment, program).ended;
  }

  /** Submits a sheet with so many rows; returns the name of the batch. */
  async submit(rows: number, concurrency: number): Promise<string> {
    const args = ['submit', this.sheet(rows), '-d', 'portraits', '-c', String(concurrency)];
    return (await this.run(args)).stdout.trim();
  }

  /** Runs a command in this process. Not for a command that starts servers, is killed, or proves something about processes. */
  async runHere(args: readonly string[], environment: StageEnvironment = {}): Promise<Ended> {
    const { runInProcess } = await import('./in-process.ts');
    this.#outside ??= { folder: process.cwd(), environment: { ...process.env } };
    process.chdir(this.folder);
    setOwn({ XDG_STATE_HOME: this.path('state'), ...this.environment, ...environment });
    return runInProcess(args);
  }

  /** Starts a run service that also accepts `keys`; later commands of this stage use it. */
  async service(
    args: readonly string[] = [],
    port = 0,
    keys: readonly string[] = [],
  ): Promise<Running & { readonly base: string }> {
    const database = ['--db', this.path('service.db'), '--port', String(port)];
    const tokens = { RUNSHEET_SERVICE_TOKEN: [KEY, ...keys].join(',') };
    const running = this.start(['service', ...database, ...args], tokens);
    const [, base = ''] = await running.says(/RUNSHEET_API_URL=(\S+)/);
    this.environment = { ...this.environment, RUNSHEET_API_URL: base, RUNSHEET_API_KEY: KEY };
    return Object.assign(running, { base });
  }

  /** Sets the rates of faults of the run service. */
  async setFaults(rates: Readonly<Record<string, number>>): Promise<void> {
    await this.#control('faults', { method: 'PUT', body: JSON.stringify(rates) });
  }

  /** The ledger of the run service. */
  ledger = async <T>(base?: string): Promise<T> => (await this.#control('ledger', {}, base)).json() as T;

  async #control(
    path: string,
    request: RequestInit,
    base = this.environment['RUNSHEET_API_URL'] ?? '',
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = await fetch(`${new URL(base).origin}/control/${path}`, { ...request, headers });
    if (!answer.ok) throw new Error(`the service answered ${answer.status} to ${path}`);
    return answer;
  }

  /** Starts a Temporal server with a database of that name; later commands of this stage use it. */
  async temporal(name = 'temporal'): Promise<Temporal> {
    const { cache, environment } = loadConfig();
    const program = await temporalBinary({ cache, environment, notice: () => undefined });
    const home = this.path(name);
    mkdirSync(join(home, 'logs'), { recursive: true });
    const started = await startSomewhere({ program, home, namespace: 'stage', environment });
    const { options } = started;
    let { server } = started;
    const kill = async (): Promise<void> => {
      const { child } = server;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    this.#closers.push(kill);
    this.environment = { ...this.environment, TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'stage' };
    return {
      kill,
      restart: async () => {
        server = await startServer(options);
      },
      pid: () => server.child.pid ?? 0,
      ended: async () => {
        const { child } = server;
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      },
    };
  }

  async worker(environment: StageEnvironment = {}): Promise<Running> {
    const running = this.start(['worker'], { RUNSHEET_SHEETS: this.folder, ...environment });
    await running.says(/webhooks at|no receiver/);
    return running;
  }

  /** Starts a Temporal server, a local run service with these deployments, and a worker. */
  async startAll(deployments: string): Promise<Running> {
    await this.cluster(deployments);
    return this.worker();
  }

  /** The same without a worker. */
  async cluster(deployments: string): Promise<Running & { readonly base: string }> {
    await this.temporal();
    return this.service(['--deployments', this.write('deployments.json', deployments)]);
  }

  /** The runs of the service with their inputs, oldest first: the reference for every check. */
  async truth(base = this.environment['RUNSHEET_API_URL'] ?? '', key = KEY): Promise<readonly Run[]> {
    const service = connectRunService({
      base,
      key: keyFromEnvironment(key, 'the stage'),
      transport: openTransport(2),
      clock: new ServiceClock(),
    });
    const deployments = (await service.listDeployments()) ?? [];
    const lists = await Promise.all(
      deployments.map(({ workflowId }) => allRuns(base, key, workflowId ?? '')),
    );
    return lists.flat().sort((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0));
  }

  /** The only batch folder of this stage. */
  batch(): string {
    const [name = 'none', ...more] = readdirSync(this.path('batches')).filter(
      (settings) => !settings.startsWith('.'),
    );
    if (more.length > 0) throw new Error(`several batches: ${[name, ...more].join(', ')}`);
    return this.path('batches', name);
  }

  /** The content of batch.json. */
  batchFile(folder = this.batch()): BatchFile {
    return JSON.parse(readFileSync(join(folder, 'batch.json'), 'utf8')) as BatchFile;
  }

  results(folder = this.batch()): readonly Readonly<Record<string, string>>[] {
    return parse(readFileSync(join(folder, 'results.csv')), { columns: true });
  }

  /** Ends all processes of the stage. Later use starts new ones. */
  async close(): Promise<void> {
    // Another process may have reused the id of a process that has ended.
    const alive = this.#running.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const trees = alive.flatMap(({ child }) => familyOf(child.pid));
    for (const pid of trees) killQuietly(pid);
    // Servers whose command was killed are no longer descendants of our processes.
    for (const pid of strays(this.folder)) killQuietly(pid);
    await Promise.all(this.#closers.splice(0).map((close) => close()));
    await Promise.all(this.#running.splice(0).map(({ ended }) => ended));
    if (this.#outside !== undefined) {
      process.chdir(this.#outside.folder);
      setOwn(this.#outside.environment);
    }
    for (const folder of Object.values(this.#folders))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    [this.#made, this.#outside, this.environment] = [undefined, undefined, {}];
  }
}

/** Replaces the variables of this process that are settings of the program. */
function setOwn(environment: NodeJS.ProcessEnv): void {
  const isOwn = (name: string): boolean =>
    /^(?:(?:RUNSHEET|TEMPORAL)_|XDG_(?:CONFIG|STATE)_HOME$)/.test(name);
  for (const name of Object.keys(process.env).filter(isOwn)) delete process.env[name];
  for (const [name, value] of Object.entries(environment)) if (isOwn(name)) process.env[name] = value;
}

/** Starts the server, with other ports if another process has taken one meanwhile. */
async function startSomewhere(
  settings: Omit<Parameters<typeof startServer>[0], 'port'>,
  tries = 3,
): Promise<{ options: Parameters<typeof startServer>[0]; server: Awaited<ReturnType<typeof startServer>> }> {
  const ports = await choosePorts(settings.home);
  const options = { ...settings, port: ports.temporal };
  try {
    return { options, server: await startServer(options) };
  } catch (error) {
    if (tries === 1) throw error;
    rmSync(join(settings.home, 'ports.json'), { force: true });
    return startSomewhere(settings, tries - 1);
  }
}

async function allRuns(base: string, key: string, workflowId: string): Promise<readonly Run[]> {
  const { runListSchema } = await import('../../src/service-client/contract/run.ts');
  const { parseExactly } = await import('../../src/host/formats/exact-json.ts');
  const runs = new Map<string, Run>();
  for (let offset = 0; ;) {
    const url = `${base}/workflow/${workflowId}/runs?with_inputs=true&limit=10000&offset=${offset}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const page = runListSchema.parse(parseExactly(await answer.text()));
    // The list changes while it is read, and some services return short pages: only an empty page is the end.
    if (page.length === 0) return [...runs.values()];
    for (const run of page) runs.set(run.id, run);
    offset += page.length;
  }
}

/** Polls until the condition holds; `what` describes it in the error. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const last = Date.now() + patienceMs;
  for (let began = performance.now(); !(await isSo()); began = performance.now()) {
    if (Date.now() > last) throw new Error(`timed out waiting until ${what}`);
    // Looking leaves the cores to what is looked at: a look that starts a process is repeated less often than a request.
    await wait(Math.min(2_000, Math.max(20, 3 * (performance.now() - began))));
  }
}
