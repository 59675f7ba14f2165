// Composes the service without its sockets.

import { openWebhookAddresses, type WebhookAddressOptions } from './executors/vendors/webhook-address.ts';
import { join } from 'node:path';
import { errorMessage } from '../errors/error.ts';
import type { ShownRun } from '../service-client/contract/shown.ts';
import { behaviourOf, type BehaviourName } from './behaviour.ts';
import type { Clock, WallClock } from './service-time.ts';
import { type Database, type DeliveryRow, type RunRow } from './database.ts';
import { refuseRepeats, type Deployment, type DeploymentSpec } from './service-deployments.ts';
import { createFaults, type Faults, type FaultTarget } from './faults.ts';
import type { Census, Executor, LiveRun, Output, RunChange, ExecutorEvents } from './executors/executor.ts';
import { TIMING, type Timing } from './executors/driving/server-deps.ts';
import { createRuns, eventsFor } from './runs/runs.ts';
import { recordOf, type Links } from './runs/run-record.ts';
import { publish, type Caller, createWebhooks, type Reach } from './webhooks/webhooks.ts';
import { createRehearsal } from './executors/rehearsal/rehearsal.ts';
import { OwnGpus } from './executors/own-gpus.ts';
import { dealt } from './owner-turns.ts';
import { openStorage, type Storage } from './storage.ts';
import type { Uploads } from './uploads.ts';

type Log = (event: string, facts: Record<string, unknown>) => void;

/** The service's external dependencies: clock, random numbers, and webhook calls. */
type Outside = {
  /** `turn` gets all work that is due at one time. */
  clock(turn: (work: () => void) => void): WallClock;
  newId(kind: 'run' | 'container' | 'upload'): string;
  readonly caller: Caller;
};

const STALE_MS = 24 * 3_600_000;
const LINK_LIFE_MS = 3_600_000;
const TRIES_WAIT_MS = 50;

export type RunServiceOptions = {
  /** Divides every duration: cold starts, run times, time-outs. Recorded times are real times. */
  readonly speed: number;
  /** The SQLite file; `:memory:` stores nothing. */
  readonly database: string;
  readonly deployments: readonly DeploymentSpec[];
  /** Rates from 0 to 1 by fault name; faults.ts lists the names. */
  readonly faults: Readonly<Record<string, number>>;
  /** The behaviour where the specification and the real service differ. */
  readonly behaviour: BehaviourName;
  /** The seed of faults and run times. */
  readonly seed: number;
  readonly log: Log;
  /** Where webhooks may go. */
  readonly reach: Reach;
  readonly outside: Outside;
  /** The shortest time that uploads and files of runs on own GPUs are kept. */
  readonly keepFilesMs: number;
  /** The most bytes of uploads of one owner. */
  readonly ownerUploadBytes: number;
  /** The folder in which commands keep the programs that they name (default: beside the files, where nothing is named). */
  readonly programs?: string | undefined;
  /** The folder of the locks of GPUs that all services of this user share (default: no locks). */
  readonly locks?: string | undefined;
  /** The public address at which vendors tell about runs whose answers may be lost, and the secret of their addresses. */
  readonly webhookAddresses?: WebhookAddressOptions | undefined;
  /** The intervals for watching own GPU servers, for tests. */
  readonly timing?: Partial<Timing>;
};

/** Composes a service whose clock stands still until `open`. */
export function createService(options: RunServiceOptions) {
  const { log, speed, seed, outside, keepFilesMs } = options;
  refuseRepeats(options.deployments);
  const deployments = new Map<string, Deployment>(options.deployments.map((spec) => [spec.id, spec]));
  const isReal = (id: string): boolean => deployments.get(id)?.isReal === true;
  const faults = createFaults(options.faults, { seed, isReal });
  const storage = openStorage(options);
  const { database, uploads } = storage;
  const requests = { queue: 0, get: 0, cancel: 0, list: 0, file: 0, upload: 0 };
  const address = { origin: '' };
  const time = createTime(options, database);
  const { clock, webhooks } = time;
  const origin = (): string => address.origin;
  const linksOf = linker({ faults, origin, speed });
  const { newId } = outside;
  const base = {
    ...time,
    database,
    uploads,
    faults,
    behaviour: behaviourOf(options.behaviour),
    deployments,
    log,
    newId,
    /** The base address of downloads, without a trailing slash. */
    origin,
    keepFilesMs,
  };
  const outputsOf = ({ id }: Pick<LiveRun, 'id'>): readonly Output[] =>
    outputsIn(database.find(id), executorOf);
  const tell = (run: LiveRun, change: RunChange): void =>
    publish({ ...base, linksOf, outputsOf }, run, change);
  const executors = openExecutors(options, {
    ...base,
    storage,
    events: eventsFor({ ...base, publish: tell }),
  });
  const executorOf = executors.of;
  const runs = createRuns({ ...base, executorOf, publish: tell });

  return {
    ...base,
    runs,
    executorOf,
    gpus: executors.gpus,
    ahead: executors.ahead,
    show: shower({ ...base, executorOf, linksOf, speed }),
    seen: (request: keyof typeof requests): void => void requests[request]++,
    /** `at`: the service's own address. */
    open(at: string): void {
      address.origin = at;
      runs.recover();
      clock.open();
    },
    stats: () => ({
      requests: { ...requests },
      runs: executors.census(),
      webhooks: webhooks.counts(),
      faults: faults.counts(),
    }),
    async close(): Promise<void> {
      time.settle();
      clock.close();
      await executors.close();
      await webhooks.close();
      storage.close();
    },
  };
}
export type Service = ReturnType<typeof createService>;

type LinksOf = (run: FaultTarget, nowMs: number) => Links;

const linker =
  (deps: { readonly faults: Faults; readonly origin: () => string; readonly speed: number }): LinksOf =>
  (run, nowMs) => ({
    origin: deps.origin(),
    endMs: deps.faults.shouldInject('private-file', run) ? nowMs + LINK_LIFE_MS / deps.speed : undefined,
    filename: deps.faults.shouldInject('wild-name', run) ? '../../escape.png' : undefined,
  });

type Deployments = ReadonlyMap<string, Deployment>;
type ExecutorOf = (deploymentId: string) => Executor;

const outputsIn = (row: RunRow | undefined, executorOf: ExecutorOf): readonly Output[] =>
  row?.status === 'success' ? executorOf(row.deploymentId).outputs(row) : [];

const shower =
  (deps: {
    readonly clock: Clock;
    readonly speed: number;
    readonly linksOf: LinksOf;
    readonly executorOf: ExecutorOf;
    readonly deployments: Deployments;
  }) =>
  /** The current record of a run. `isTrue`: without faults, and not timed out however old it is. */
  (row: RunRow, isTrue = false): ShownRun => {
    const nowMs = deps.clock.now();
    const machine = deps.deployments.get(row.deploymentId);
    return recordOf(row, {
      nowMs,
      // A real run may wait for days.
      staleMs: isTrue || machine?.isReal === true ? Number.POSITIVE_INFINITY : STALE_MS / deps.speed,
      links: isTrue ? { origin: '' } : deps.linksOf(row, nowMs),
      work: deps.executorOf(row.deploymentId).view(row, nowMs),
      outputs: outputsIn(row, deps.executorOf),
      costNano: deps.executorOf(row.deploymentId).costNano?.(row),
      machine,
    });
  };

/** A clock whose turns are transactions, and webhooks that are sent after each commit. */
function createTime({ outside, speed, log, reach }: RunServiceOptions, database: Database) {
  let tries: DeliveryRow[] = [];
  let works = true;
  const commit = createCommit(database, {
    begun() {
      database.delivered(tries);
      tries = [];
    },
    done: () => webhooks.flush(),
    broken: (reason) => {
      works = false;
      clock.close();
      webhooks.discard();
      log('broken', { reason });
    },
  });
  const clock = outside.clock(commit);
  // Stored with the next transaction; starts one if none is due.
  const record = (row: DeliveryRow): void => {
    if (tries.push(row) === 1) clock.at(clock.now() + TRIES_WAIT_MS, () => undefined);
  };
  const { caller } = outside;
  const webhooks = createWebhooks({ clock, speed, log, record, caller, reach });
  const settle = (): void => {
    if (works) commit(() => undefined);
  };
  return { clock, webhooks, commit, commitSoon: groupedBy(commit), settle };
}

type Commit = <Result>(work: () => Result) => Result;

/** Shares one transaction per turn of the event loop, because a transaction costs more than what it writes. */
function groupedBy(commit: Commit): <Result>(work: () => Result) => Promise<Result> {
  let waiting: { readonly work: () => () => void; readonly failed: (error: unknown) => void }[] = [];
  const commitAll = (): void => {
    const works = waiting;
    waiting = [];
    try {
      const answers = commit(() => works.map(({ work }) => work()));
      for (const answer of answers) answer();
    } catch (error) {
      for (const { failed } of works) failed(error);
    }
  };
  return (work) =>
    new Promise((done, failed) => {
      const answering = () => {
        const result = work();
        return () => done(result);
      };
      if (waiting.push({ work: answering, failed }) === 1) setImmediate(commitAll);
    });
}

// After a failed write, memory and database differ, so the service stops.
function createCommit(
  database: Database,
  deps: {
    readonly begun: () => void;
    readonly done: () => void;
    readonly broken: (reason: string) => void;
  },
): Commit {
  let broken: string | undefined;
  let isWithin = false;
  return (work) => {
    if (isWithin) return work();
    if (broken !== undefined) throw new Error(`the service has stopped after an error: ${broken}`);
    try {
      isWithin = true;
      const result = database.together(() => {
        deps.begun();
        return work();
      });
      isWithin = false;
      deps.done();
      return result;
    } catch (error) {
      isWithin = false;
      broken = errorMessage(error);
      deps.broken(broken);
      throw error;
    }
  };
}

type ServiceWorld = {
  readonly clock: Clock;
  readonly database: Database;
  readonly uploads: Uploads;
  readonly storage: Storage;
  readonly faults: Faults;
  readonly origin: () => string;
  readonly commit: Commit;
  readonly commitSoon: <Result>(work: () => Result) => Promise<Result>;
  readonly events: ExecutorEvents;
  /** The deployments, including workflows that were added later. */
  readonly deployments: Map<string, Deployment>;
};

const TIDY_EVERY_MS = 3_600_000;

/** The simulation for file deployments, and the user's own GPUs for workflows. */
function openExecutors(options: RunServiceOptions, world: ServiceWorld) {
  const { clock, database, deployments, storage } = world;
  const { keepFilesMs, log, outside } = options;
  const inputsOf = (id: string): string => {
    const row = database.find(id);
    if (row === undefined) throw new Error(`the run ${id} was never stored`);
    return row.inputs;
  };
  const specs = new Map(options.deployments.map((spec) => [spec.id, spec]));
  const { speed, seed } = options;
  const { newId } = outside;
  const rehearsal = createRehearsal({ ...world, speed, seed, newId, deployments: specs, inputsOf });
  const tidy = (): void => {
    storage.drop(clock.now() - keepFilesMs);
    clock.at(clock.now() + TIDY_EVERY_MS, tidy);
  };
  tidy();
  const gpus = new OwnGpus({
    ...world,
    now: () => clock.now(),
    // A rejection was already reported.
    commitSoon: (work) => void world.commitSoon(work).catch(() => undefined),
    inputsOf,
    files: storage.files,
    seats: storage.seats,
    locks: options.locks,
    webhookAddresses: options.webhookAddresses && openWebhookAddresses(options.webhookAddresses),
    programs: options.programs ?? join(storage.seats, 'named'),
    timing: { ...TIMING, ...options.timing },
    say: log,
  });
  gpus.restore();
  const executors: readonly Executor[] = [rehearsal, gpus.executor];
  return {
    gpus,
    of: (deploymentId: string): Executor =>
      deployments.get(deploymentId)?.isReal === true ? gpus.executor : rehearsal,
    /** The numbers of the runs that start next, in this order. */
    ahead: (most: number) =>
      dealt(
        executors.map((executor) => executor.ahead(most)),
        most,
      ),
    census: () => sumOf(executors.flatMap((executor) => [...executor.census().values()])),
    close: () => Promise.all(executors.map((executor) => executor.close())),
  };
}

const sumOf = (censuses: readonly Census[]): Census => ({
  waiting: censuses.reduce((sum, census) => sum + census.waiting, 0),
  busy: censuses.reduce((sum, census) => sum + census.busy, 0),
  idle: censuses.reduce((sum, census) => sum + census.idle, 0),
});
