// The executors of the service: the simulation for the deployments of its file, and the user's own GPUs for workflows.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../database.ts';
import type { Deployment, DeploymentSpec } from '../deployments.ts';
import type { Faults } from '../faults.ts';
import type { Clock } from '../service-time.ts';
import type { Census, Executor, ExecutorEvents } from './executor.ts';
import { createRehearsal } from './rehearsal/rehearsal.ts';
import type { Timing } from './remote/desk.ts';
import { KeptFiles } from './remote/kept-files.ts';
import { OwnGpus } from './remote/own-gpus.ts';

type World = {
  readonly clock: Clock;
  readonly commit: <Result>(work: () => Result) => Result;
  readonly commitSoon: <Result>(work: () => Result) => Promise<Result>;
  readonly database: Database;
  readonly events: ExecutorEvents;
  readonly faults: Faults;
  readonly simulated: readonly DeploymentSpec[];
  /** All deployments, to which workflows are added. */
  readonly deployments: Map<string, Deployment>;
  readonly speed: number;
  readonly seed: number;
  readonly newId: (kind: 'container') => string;
  readonly origin: () => string;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
  /** The SQLite file; the files of runs are kept beside it. */
  readonly file: string;
  /** How long files of runs on own GPUs and uploads are kept, at least. */
  readonly keepFilesMs: number;
  readonly timing?: Partial<Timing>;
};

const TIMING: Timing = {
  lookMs: 1_000,
  lookWithSocketMs: 5_000,
  lookPolledMs: 2_000,
  lateMs: 5_000,
  spentMs: 60_000,
  moveAfterMs: 600_000,
};
const TIDY_EVERY_MS = 3_600_000;

export type Executors = {
  of(deploymentId: string): Executor;
  readonly gpus: OwnGpus;
  census(): Census;
  close(): Promise<void>;
};

export function openExecutors(world: World): Executors {
  const { clock, database, deployments, file } = world;
  const inputsOf = (id: string): string => {
    const row = database.find(id);
    if (row === undefined) throw new Error(`the run ${id} was never stored`);
    return row.inputs;
  };
  const specs = new Map(world.simulated.map((spec) => [spec.id, spec]));
  const rehearsal = createRehearsal({ ...world, deployments: specs, inputsOf });
  const isKept = file !== ':memory:';
  const folder = isKept ? `${file}.files` : mkdtempSync(join(tmpdir(), 'runsheet-files-'));
  const files = new KeptFiles(folder);
  const tidy = (): void => {
    files.drop(clock.now() - world.keepFilesMs);
    database.dropUploads(clock.now() - world.keepFilesMs);
    clock.at(clock.now() + TIDY_EVERY_MS, tidy);
  };
  tidy();
  const { commit, commitSoon, events, origin, log } = world;
  const timing = { ...TIMING, ...world.timing };
  const gpus = new OwnGpus({
    now: () => clock.now(),
    commit,
    // Before it rejects, it has said why.
    commitSoon: (work) => void commitSoon(work).catch(() => undefined),
    events,
    inputsOf,
    files,
    timing,
    say: log,
    database,
    deployments,
    origin,
  });
  gpus.restore();
  const all: readonly Executor[] = [rehearsal, gpus.executor];
  return {
    gpus,
    of: (deploymentId) => (deployments.get(deploymentId)?.isReal === true ? gpus.executor : rehearsal),
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
