// Composes the service without its sockets.

import { errorMessage } from '../errors/error.ts';
import type { ShownRun } from '../run-service/contract/shown.ts';
import { behaviourOf, type Behaviour, type BehaviourName } from './behaviour.ts';
import type { Clock, WallClock } from './service-time.ts';
import { openDatabase, type Database, type DeliveryRow } from './database.ts';
import type { RunRow } from './runs/run-row.ts';
import { refuseRepeats, type DeploymentSpec } from './deployments.ts';
import { createFaults, type Faults, type FaultTarget } from './faults.ts';
import { createRuns, type Runs } from './runs/runs.ts';
import { recordOf, type Links } from './runs/run-record.ts';
import { type Caller, createWebhooks, type Webhooks } from './webhooks/webhooks.ts';

export type Log = (event: string, facts: Record<string, unknown>) => void;
type Request = 'queue' | 'get' | 'cancel' | 'list' | 'file' | 'upload';

/** The dependencies of the routes. */
export type Service = {
  readonly clock: Clock;
  readonly database: Database;
  readonly runs: Runs;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly deployments: ReadonlyMap<string, DeploymentSpec>;
  readonly log: Log;
  /** The base address of downloads, without a trailing slash. */
  origin(): string;
  /** The current record of a run. */
  show(row: RunRow): ShownRun;
  newId(kind: 'upload'): string;
  /** Counts a request. */
  seen(request: Request): void;
};

/** The service's external dependencies: clock, random numbers, and webhook calls. */
type Outside = {
  /** `turn` is called with all work that is due at one time. */
  clock(turn: (work: () => void) => void): WallClock;
  newId(kind: 'run' | 'container' | 'upload'): string;
  readonly caller: Caller;
};

/** Counters since the start of the service. */
export type Stats = {
  readonly requests: Readonly<Record<Request, number>>;
  readonly runs: ReturnType<Runs['census']>;
  readonly webhooks: ReturnType<Webhooks['counts']>;
  /** How often each fault was injected. */
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
  /** Whether webhooks may go to other machines. */
  readonly webhooksAnywhere: boolean;
  readonly outside: Outside;
};

export function createService(options: Options): LivingService {
  const { log, speed, seed, outside } = options;
  refuseRepeats(options.deployments);
  const deployments = new Map(options.deployments.map((spec) => [spec.id, spec]));
  const faults = createFaults(options.faults, seed);
  const behaviour = behaviourOf(options.behaviour);
  const database = openDatabase(options.database);
  const requests = { queue: 0, get: 0, cancel: 0, list: 0, file: 0, upload: 0 };
  let address = '';
  const { clock, webhooks, commit, commitSoon, settle } = createTime(options, database);
  const world = {
    clock,
    database,
    webhooks,
    faults,
    behaviour,
    deployments,
    speed,
    seed,
    commit,
    commitSoon,
    log,
    newId: outside.newId,
    linksOf: (run: FaultTarget, nowMs: number): Links => ({
      origin: address,
      endMs: faults.shouldInject('private-file', run) ? nowMs + LINK_LIFE_MS / speed : undefined,
      filename: faults.shouldInject('wild-name', run) ? '../../escape.png' : undefined,
    }),
  };
  const runs = createRuns(world);

  return {
    ...world,
    runs,
    origin: () => address,
    show(row) {
      const nowMs = clock.now();
      const machine = deployments.get(row.deploymentId);
      return recordOf(row, { nowMs, staleMs: STALE_MS / speed, links: world.linksOf(row, nowMs), machine });
    },
    seen(request) {
      requests[request]++;
    },
    open(at) {
      address = at;
      runs.recover();
      clock.open();
    },
    stats: () => ({
      requests: { ...requests },
      runs: runs.census(),
      webhooks: webhooks.counts(),
      faults: faults.counts(),
    }),
    async close() {
      settle();
      clock.close();
      await webhooks.close();
      database.close();
    },
  };
}

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
  return (work) => {
    if (broken !== undefined) throw new Error(`the service has stopped after an error: ${broken}`);
    try {
      const result = database.together(() => {
        deps.begun();
        return work();
      });
      deps.done();
      return result;
    } catch (error) {
      broken = errorMessage(error);
      deps.broken(broken);
      throw error;
    }
  };
}
