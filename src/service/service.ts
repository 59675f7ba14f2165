// Composes the service without its sockets.

import { errorMessage } from '../errors/error.ts';
import type { ShownRun } from '../run-service/contract/shown.ts';
import { behaviourOf, type Behaviour, type BehaviourName } from './behaviour.ts';
import type { Clock, WallClock } from './service-time.ts';
import { openDatabase, type Database, type DeliveryRow, type RunRow } from './database.ts';
import { refuseRepeats, type Deployment, type DeploymentSpec } from './deployments.ts';
import { createFaults, type Faults, type FaultTarget } from './faults.ts';
import type { Census, Executor, LiveRun, Output, RunChange, ExecutorEvents } from './executors/executor.ts';
import type { Timing } from './executors/remote/server-deps.ts';
import { createRuns, eventsFor, type Runs } from './runs/runs.ts';
import { recordOf, type Links } from './runs/run-record.ts';
import { publish, type Caller, createWebhooks, type Webhooks } from './webhooks/webhooks.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRehearsal } from './executors/rehearsal/rehearsal.ts';
import { KeptFiles } from './executors/remote/kept-files.ts';
import { OwnGpus } from './executors/remote/own-gpus.ts';

type Log = (event: string, facts: Record<string, unknown>) => void;
type Request = 'queue' | 'get' | 'cancel' | 'list' | 'file' | 'upload';

export type Service = {
  readonly clock: Clock;
  readonly database: Database;
  readonly runs: Runs;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly executorOf: (deploymentId: string) => Executor;
  readonly gpus: OwnGpus;
  readonly log: Log;
  /** The base address of downloads, without a trailing slash. */
  origin(): string;
  /** How long files of runs on own GPUs and uploads are kept, at least. */
  readonly keepFilesMs: number;
  /** The current record of a run; `isTrue`: without faults, and however long ago it changed. */
  show(row: RunRow, isTrue?: boolean): ShownRun;
  newId(kind: 'upload'): string;
  seen(request: Request): void;
};

/** The service's external dependencies: clock, random numbers, and webhook calls. */
type Outside = {
  /** `turn` is called with all work that is due at one time. */
  clock(turn: (work: () => void) => void): WallClock;
  newId(kind: 'run' | 'container' | 'upload'): string;
  readonly caller: Caller;
};

export type Stats = {
  readonly requests: Readonly<Record<Request, number>>;
  readonly runs: Census;
  readonly webhooks: ReturnType<Webhooks['counts']>;
  readonly faults: ReturnType<Faults['counts']>;
};

/** A composed service: `open` starts its clock, and takes its own address. */
export type LivingService = Service & {
  open(origin: string): void;
  readonly stats: () => Stats;
  close(): Promise<void>;
};

const STALE_MS = 24 * 3_600_000;
const LINK_LIFE_MS = 3_600_000;
const TRIES_WAIT_MS = 50;

export type Options = {
  /** Divides every duration: cold starts, run times, time-outs. Recorded times are real times. */
  readonly speed: number;
  /** The SQLite file; `:memory:` stores nothing. */
  readonly database: string;
  readonly deployments: readonly DeploymentSpec[];
  /** Rates from 0 to 1 by fault name; faults.ts lists the names. */
  readonly faults: Readonly<Record<string, number>>;
  /** Which behaviour it has where the specification and the real service differ. */
  readonly behaviour: BehaviourName;
  /** The seed of faults and run times. */
  readonly seed: number;
  readonly log: Log;
  /** Whether webhooks may go to other machines. */
  readonly webhooksAnywhere: boolean;
  readonly outside: Outside;
  /** How long files of runs on own GPUs and uploads are kept, at least. */
  readonly keepFilesMs: number;
  /** How own GPU servers are watched, for tests. */
  readonly timing?: Partial<Timing>;
};

export function createService(options: Options): LivingService {
  const { log, speed, seed, outside } = options;
  refuseRepeats(options.deployments);
  const deployments = new Map<string, Deployment>(options.deployments.map((spec) => [spec.id, spec]));
  const faults = createFaults(options.faults, seed);
  const behaviour = behaviourOf(options.behaviour);
  const database = openDatabase(options.database);
  const requests = { queue: 0, get: 0, cancel: 0, list: 0, file: 0, upload: 0 };
  const address = { origin: '' };
  const time = createTime(options, database);
  const { clock, webhooks } = time;
  const linksOf = (run: FaultTarget, nowMs: number): Links => ({
    origin: address.origin,
    endMs: faults.shouldInject('private-file', run) ? nowMs + LINK_LIFE_MS / speed : undefined,
    filename: faults.shouldInject('wild-name', run) ? '../../escape.png' : undefined,
  });
  const { newId } = outside;
  const base = { ...time, database, faults, behaviour, deployments, speed, seed, log, linksOf, newId };
  const tell = (run: LiveRun, change: RunChange): void => publish({ ...base, outputsOf }, run, change);
  const events = eventsFor({ clock, database, publish: tell });
  const origin = (): string => address.origin;
  const executors = openExecutors(options, { ...base, events, origin });
  const executorOf = (deploymentId: string): Executor => executors.of(deploymentId);
  const outputsOf = ({ id }: Pick<LiveRun, 'id'>): readonly Output[] => {
    const row = database.find(id);
    return row?.status === 'success' ? executorOf(row.deploymentId).outputs(row) : [];
  };
  const runs = createRuns({ ...base, executorOf, publish: tell });

  return {
    ...base,
    runs,
    executorOf,
    gpus: executors.gpus,
    keepFilesMs: options.keepFilesMs,
    origin,
    show: shower({ ...base, executorOf }),
    seen(request) {
      requests[request]++;
    },
    open(at) {
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
    async close() {
      time.settle();
      clock.close();
      await executors.close();
      await webhooks.close();
      database.close();
    },
  };
}

const shower =
  ({
    clock,
    speed,
    linksOf,
    executorOf,
    deployments,
  }: Pick<Service, 'clock' | 'deployments' | 'executorOf'> & {
    readonly speed: number;
    readonly linksOf: (run: FaultTarget, nowMs: number) => Links;
  }): Service['show'] =>
  (row, isTrue = false) => {
    const nowMs = clock.now();
    const executor = executorOf(row.deploymentId);
    const machine = deployments.get(row.deploymentId);
    return recordOf(row, {
      nowMs,
      // A real run may wait for days.
      staleMs: isTrue || machine?.isReal === true ? Number.POSITIVE_INFINITY : STALE_MS / speed,
      links: isTrue ? { origin: '' } : linksOf(row, nowMs),
      work: executor.view(row, nowMs),
      outputs: row.status === 'success' ? executor.outputs(row) : [],
      machine,
    });
  };

/** A clock whose every turn is one transaction, and webhooks that are sent after each commit. */
function createTime({ outside, speed, log, webhooksAnywhere }: Options, database: Database) {
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
  // Stored with the next transaction; starts one if there is none.
  const record = (row: DeliveryRow): void => {
    if (tries.push(row) === 1) clock.at(clock.now() + TRIES_WAIT_MS, () => undefined);
  };
  const { caller } = outside;
  const webhooks = createWebhooks({ clock, speed, log, record, caller, anywhere: webhooksAnywhere });
  const settle = (): void => {
    if (works) commit(() => undefined);
  };
  return { clock, webhooks, commit, commitSoon: groupedBy(commit), settle };
}

type Commit = <Result>(work: () => Result) => Result;

/** One transaction for each turn of the event loop, because it costs more than what is written in it. */
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

type World = Pick<Service, 'clock' | 'database' | 'faults' | 'origin'> & {
  readonly commit: Commit;
  readonly commitSoon: <Result>(work: () => Result) => Promise<Result>;
  readonly events: ExecutorEvents;
  /** All deployments, to which workflows are added. */
  readonly deployments: Map<string, Deployment>;
};

const TIMING: Timing = {
  pollMs: 1_000,
  pollWithSocketMs: 5_000,
  pollOnlyMs: 2_000,
  lateMs: 5_000,
  spentMs: 60_000,
  moveAfterMs: 600_000,
};
const TIDY_EVERY_MS = 3_600_000;

/** The simulation for the deployments of its file, and the user's own GPUs for workflows; their files are kept beside the database. */
function openExecutors(options: Options, world: World) {
  const { clock, database, deployments } = world;
  const { database: file, keepFilesMs, log, outside } = options;
  const inputsOf = (id: string): string => {
    const row = database.find(id);
    if (row === undefined) throw new Error(`the run ${id} was never stored`);
    return row.inputs;
  };
  const specs = new Map(options.deployments.map((spec) => [spec.id, spec]));
  const { speed, seed } = options;
  const { newId } = outside;
  const rehearsal = createRehearsal({ ...world, speed, seed, newId, deployments: specs, inputsOf });
  const isKept = file !== ':memory:';
  const folder = isKept ? `${file}.files` : mkdtempSync(join(tmpdir(), 'runsheet-files-'));
  const files = new KeptFiles(folder);
  const tidy = (): void => {
    files.drop(clock.now() - keepFilesMs);
    database.dropUploads(clock.now() - keepFilesMs);
    clock.at(clock.now() + TIDY_EVERY_MS, tidy);
  };
  tidy();
  const { commit, commitSoon, events, origin } = world;
  const gpus = new OwnGpus({
    now: () => clock.now(),
    commit,
    // Before it rejects, it has said why.
    commitSoon: (work) => void commitSoon(work).catch(() => undefined),
    events,
    inputsOf,
    files,
    timing: { ...TIMING, ...options.timing },
    say: log,
    database,
    deployments,
    origin,
  });
  gpus.restore();
  const all: readonly Executor[] = [rehearsal, gpus.executor];
  return {
    gpus,
    of: (deploymentId: string): Executor =>
      deployments.get(deploymentId)?.isReal === true ? gpus.executor : rehearsal,
    census: () => sumOf(all.flatMap((one) => [...one.census().values()])),
    async close() {
      await Promise.all(all.map((one) => one.close()));
      if (!isKept) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const sumOf = (all: readonly Census[]): Census => ({
  waiting: all.reduce((sum, one) => sum + one.waiting, 0),
  busy: all.reduce((sum, one) => sum + one.busy, 0),
  idle: all.reduce((sum, one) => sum + one.idle, 0),
});
