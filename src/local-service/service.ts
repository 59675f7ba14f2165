// The service without its sockets: the parts that know each other, put together once.

import { reasonOf } from '../errors.ts';
import { behaviourOf, type Behaviour, type BehaviourName } from './behaviour.ts';
import { createWallClock, type Clock } from './clock.ts';
import { openDatabase, type Database } from './database.ts';
import { refuseRepeats, type DeploymentSpec } from './deployments.ts';
import { createFaults, type Faults } from './faults.ts';
import { createRuns, type Runs } from './runs.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export type Log = (event: string, facts: Record<string, unknown>) => void;
type Request = 'queue' | 'get' | 'cancel' | 'list' | 'file';

/** What the routes work with. */
export type Service = {
  readonly clock: Clock;
  readonly database: Database;
  readonly runs: Runs;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly deployments: ReadonlyMap<string, DeploymentSpec>;
  readonly log: Log;
  /** The address that files are fetched from, without a slash at its end. */
  origin(): string;
  /** Counts a request. */
  seen(request: Request): void;
};

/** What the service has done since it started. */
export type Stats = {
  readonly requests: Readonly<Record<Request, number>>;
  readonly runs: ReturnType<Runs['census']>;
  readonly webhooks: ReturnType<Webhooks['counts']>;
  /** How often each fault has struck. */
  readonly faults: ReturnType<Faults['counts']>;
};

/** A service that lives: `open` lets time pass, with the address that it is reached at. */
export type LivingService = Service & {
  open(origin: string): void;
  readonly stats: () => Stats;
  close(): Promise<void>;
};

export function createService(options: {
  readonly speed: number;
  readonly database: string;
  readonly deployments: readonly DeploymentSpec[];
  readonly faults: Readonly<Record<string, number>>;
  readonly behaviour: BehaviourName;
  readonly seed: number;
  readonly log: Log;
}): LivingService {
  const { log, speed, seed } = options;
  refuseRepeats(options.deployments);
  const deployments = new Map(options.deployments.map((spec) => [spec.id, spec]));
  const faults = createFaults(options.faults, seed);
  const behaviour = behaviourOf(options.behaviour);
  const database = openDatabase(options.database);
  const requests = { queue: 0, get: 0, cancel: 0, list: 0, file: 0 };
  let address = '';

  const commit = createCommit(database, {
    done: () => webhooks.flush(),
    broken: (reason) => {
      clock.close();
      webhooks.discard();
      log('broken', { reason });
    },
  });
  const clock = createWallClock(commit);
  const webhooks = createWebhooks({ clock, speed, log });
  const origin = (): string => address;
  const world = {
    clock,
    database,
    webhooks,
    faults,
    behaviour,
    deployments,
    speed,
    seed,
    origin,
    commit,
    log,
  };
  const runs = createRuns(world);

  return {
    ...world,
    runs,
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
      clock.close();
      await webhooks.close();
      database.close();
    },
  };
}

// What is kept in memory would no longer agree with a database that refused a write, so that nothing goes on then.
function createCommit(
  database: Database,
  hands: { readonly done: () => void; readonly broken: (reason: string) => void },
): <Result>(work: () => Result) => Result {
  let broken: string | undefined;
  return (work) => {
    if (broken !== undefined) throw new Error(`the service has stopped: ${broken}`);
    try {
      const result = database.together(work);
      hands.done();
      return result;
    } catch (error) {
      broken = reasonOf(error);
      hands.broken(broken);
      throw error;
    }
  };
}
