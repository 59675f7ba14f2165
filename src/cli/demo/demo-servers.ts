// Starts what `demo --kill` needs in a folder of its own: two local run services of the same kind, Temporal, and two programs as
// processes that can be killed. Removes everything at the end.

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DEFAULT_PRICES } from '../../options/gpu.ts';
import { keepSecret } from '../../errors/redact.ts';
import type { Config } from '../../host/config.ts';
import { connect, type Runsheet } from '../../library/runsheet.ts';
import { idsOf } from '../../service/identity.ts';
import { deploymentSpecSchema, startLocalService, type LocalService } from '../../service/server.ts';
import { connectClient } from '../../temporal/connect.ts';
import { temporalBinary } from '../../temporal/embedded/binary.ts';
import { environmentFor } from '../../host/child-environment.ts';
import { spawnOnLifeline } from '../../host/lifeline.ts';
import { choosePorts } from '../../temporal/embedded/ports.ts';
import { programFile } from '../../temporal/embedded/processes.ts';
import { startServer } from '../../temporal/embedded/temporal-server.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { parseExactly } from '../../host/exact-json.ts';
import { fetchOutside } from '../../host/outgoing.ts';
import { runListSchema, type Run } from '../../run-service/contract/run.ts';

export const DEPLOYMENT = 'portraits';
const NAMESPACE = 'demo';

/** The times of the runs, in seconds; real ones take longer. */
const MACHINES = {
  coldStartSeconds: 1,
  runSeconds: 2,
  runSpread: 0.3,
  idleTimeoutSeconds: 600,
  pictureSize: 64,
};

export type DemoParams = {
  readonly config: Config;
  readonly seed: number;
  readonly rows: number;
  readonly concurrency: number;
  readonly notice: (text: string) => void;
};

export type DemoServers = {
  readonly runsheet: Runsheet;
  readonly runLists: { readonly runsheet: RunList; readonly loop: RunList };
  /** `ready`: called when it takes work. */
  startWorker(ready: () => void): ChildProcess;
  /** `done`: called for each row that the loop has done. */
  startLoop(done: () => void): ChildProcess;
};

/** Everything that was opened is closed after `work`, newest first. */
export async function withDemoServers<T>(
  params: DemoParams,
  work: (servers: DemoServers) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-demo-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const key = randomBytes(16).toString('hex');
  keepSecret(key);
  const local = { runsheet: await startService(params, key), loop: await startService(params, key) };
  opened.defer(async () => void (await Promise.all([local.runsheet.close(), local.loop.close()])));
  const temporal = await startTemporal(params, folder);
  opened.defer(() => ended(temporal.child, 'SIGKILL'));
  const at = { ...temporal, namespace: NAMESPACE, from: 'the demo', options: {} };
  const { client } = opened.use(await connectClient(at));
  const runsheet = await connect({
    client,
    home: folder,
    store: join(folder, 'batches'),
    service: { url: local.runsheet.base, apiKey: key },
  });
  opened.use(runsheet);
  const children = new Set<ChildProcess>();
  opened.defer(async () => void (await Promise.all([...children].map((child) => ended(child, 'SIGKILL')))));
  const start = (
    args: readonly string[],
    environment: Record<string, string | undefined>,
    says: (line: string) => void,
  ): ChildProcess => {
    const child = spawnOnLifeline(process.execPath, [programFile(), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...cleanEnvironment(params.config),
        RUNSHEET_HOME: folder,
        RUNSHEET_API_KEY: key,
        ...environment,
      },
    });
    for (const input of [child.stdout, child.stderr])
      if (input !== null) createInterface({ input }).on('line', says);
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  return await work({
    runsheet,
    runLists: { runsheet: runListOf(local.runsheet, key), loop: runListOf(local.loop, key) },
    startWorker: (ready) =>
      start(
        ['worker'],
        {
          TEMPORAL_ADDRESS: temporal.address,
          TEMPORAL_NAMESPACE: NAMESPACE,
          TEMPORAL_CONFIG_FILE: temporal.noProfile,
          RUNSHEET_OUT: join(folder, 'batches'),
          RUNSHEET_API_URL: local.runsheet.base,
          RUNSHEET_WEBHOOK_LISTEN: `127.0.0.1:${temporal.receiverPort}`,
        },
        (line) => line.startsWith('webhooks at') && ready(),
      ),
    startLoop: (done) => {
      const size = ['--rows', String(params.rows), '--concurrency', String(params.concurrency)];
      const args = ['demo-loop', '--deployment', DEPLOYMENT_ID, ...size];
      return start(args, { RUNSHEET_API_URL: local.loop.base }, (line) => line === 'done' && done());
    },
  });
}

const SPEC = deploymentSpecSchema.parse({ name: DEPLOYMENT, ...MACHINES });
const DEPLOYMENT_ID = SPEC.id;

const runListOf = ({ base }: LocalService, key: string): RunList => ({
  base,
  key,
  workflowId: idsOf(DEPLOYMENT_ID).workflowId,
  usdPerSecond: DEFAULT_PRICES[SPEC.gpu] ?? 0,
});

const startService = ({ seed, concurrency }: DemoParams, key: string): Promise<LocalService> =>
  startLocalService({
    port: 0,
    tokens: [key],
    speed: 1,
    database: ':memory:',
    deployments: [{ ...SPEC, concurrencyLimit: concurrency }],
    faults: {},
    seed,
  });

async function startTemporal({ config, notice }: DemoParams, folder: string) {
  const { cache, environment } = config;
  const program = await temporalBinary({ cache, environment, notice });
  mkdirSync(join(folder, 'logs'));
  const noProfile = join(folder, 'temporal.toml');
  writeFileSync(noProfile, '[profile.default]\n');
  const { temporal: port, receiver: receiverPort } = await choosePorts(folder);
  const server = await startServer({
    program,
    home: folder,
    namespace: NAMESPACE,
    port,
    environment,
  });
  return { child: server.child, address: server.address, receiverPort, noProfile };
}

/** The user's own settings do not reach the demo. */
function cleanEnvironment({ environment }: Config): Record<string, string | undefined> {
  const needed = environmentFor('worker', environment);
  return Object.fromEntries(Object.entries(needed).filter(([name]) => !name.startsWith('RUNSHEET_')));
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

// What a run service has sold is read from its own run list, so that neither program counts for itself.

export type Bought = { readonly runs: number; readonly twice: number; readonly costUsd: number };

export type RunList = {
  readonly base: string;
  readonly key: string;
  readonly workflowId: string;
  readonly usdPerSecond: number;
};

const PAGE = 1_000;

export async function readBought(list: RunList): Promise<Bought> {
  const runs = await allRuns(list);
  const rows = new Set(runs.map(({ inputs }) => String(inputs?.['number'])));
  const seconds = runs.reduce((sum, run) => sum + secondsOf(run), 0);
  return { runs: runs.length, twice: runs.length - rows.size, costUsd: seconds * list.usdPerSecond };
}

export async function untilQuiet(list: RunList): Promise<void> {
  while ((await allRuns(list)).some(({ endedAtMs }) => endedAtMs === undefined)) await wait(AGAIN_MS);
}

const AGAIN_MS = 250;

async function allRuns({ base, key, workflowId }: RunList): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (;;) {
    const path = `/workflow/${workflowId}/runs?with_inputs=true&limit=${PAGE}&offset=${runs.length}`;
    const answer = await fetchOutside(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } });
    const page = runListSchema.parse(parseExactly(await answer.text()));
    runs.push(...page);
    if (page.length < PAGE) return runs;
  }
}

/** From the start of its machine on, as a service charges. */
const secondsOf = ({ queuedAtMs, endedAtMs = Date.now() }: Run): number =>
  queuedAtMs === undefined ? 0 : Math.max(0, endedAtMs - queuedAtMs) / 1000;
