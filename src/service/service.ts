// Composes the service without its sockets.

import { errorMessage } from '../errors/error.ts';
import type { ShownRun } from '../run-service/contract/shown.ts';
import { behaviourOf, type Behaviour, type BehaviourName } from './behaviour.ts';
import type { Clock, WallClock } from './service-time.ts';
import { openDatabase, type Database, type DeliveryRow } from './database.ts';
import type { RunRow } from './runs/run-row.ts';
import { refuseRepeats, type Deployment, type DeploymentSpec } from './deployments.ts';
import { createFaults, type Faults, type FaultTarget } from './faults.ts';
import type { Census, Executor, LiveRun, Output, RunChange } from './executors/executor.ts';
import { openExecutors, type Executors } from './executors/executors.ts';
import type { Timing } from './executors/remote/desk.ts';
import { createRuns, eventsFor, type Runs } from './runs/runs.ts';
import { recordOf, type Links } from './runs/run-record.ts';
import { publish } from './webhooks/webhook-events.ts';
import { type Caller, createWebhooks, type Webhooks } from './webhooks/webhooks.ts';

export type Log = (event: string, facts: Record<string, unknown>) => void;
type Request = 'queue' | 'get' | 'cancel' | 'list' | 'file' | 'upload';

export type Service = {
  readonly clock: Clock;
  readonly database: Database;
  readonly runs: Runs;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly executorOf: (deploymentId: string) => Executor;
  readonly gpus: Executors['gpus'];
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

type Options = {
  readonly speed: number;
  readonly database: string;
  readonly deployments: readonly DeploymentSpec[];
  readonly faults: Readonly<Record<string, number>>;
  readonly behaviour: BehaviourName;
  readonly seed: number;
  readonly log: Log;
  readonly webhooksAnywhere: boolean;
  readonly outside: Outside;
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
  const executors = openExecutors({
    ...base,
    events,
    simulated: options.deployments,
    origin: () => address.origin,
    file: options.database,
    keepFilesMs: options.keepFilesMs,
    ...(options.timing && { timing: options.timing }),
  });
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
    origin: () => address.origin,
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
