// Hands what a vendor tells about a run to the run: a proof that its request arrived, which names the vendor's id of it.
// The run is polled as usual then. A proof that is late turns an unknown end into the known one.

import type { RunRow } from '../../../database.ts';
import { NO_WORK, type ExecutorEvents } from '../../executor.ts';
import { AssignedRun, keptState, shownAgain, stateIn, withLine } from '../assigned-run.ts';
import type { ToldMessage } from '../backend.ts';
import type { GpuServer } from '../gpu-server.ts';
import type { Task } from '../task.ts';
import type { Door, ToldRun } from './door.ts';

type ToldRunsWorld = {
  readonly door: Door;
  readonly find: (id: string) => RunRow | undefined;
  readonly task: (deploymentId: string) => Task | undefined;
  readonly servers: () => readonly GpuServer[];
  readonly now: () => number;
  readonly commit: (work: () => void) => void;
  readonly events: Pick<ExecutorEvents, 'keep' | 'reached'>;
};

/** Returns the status of the answer. */
export async function takeTold(
  world: ToldRunsWorld,
  path: string,
  message: Pick<ToldMessage, 'headers' | 'body'>,
): Promise<200 | 403 | 404> {
  const run = world.door.runAt(path);
  const row = run && world.find(run.id);
  const task = row && world.task(row.deploymentId);
  if (run === undefined || row === undefined || task?.kind !== 'model' || task.vendor !== run.vendor)
    return 404;
  const server = serverOf(world, row, run);
  if (server?.backend.told === undefined) return 404;
  const ref = await server.backend.told({ ...message, id: run.id, model: task.model });
  if (ref === undefined) return 403;
  // The run may have ended meanwhile.
  adopt(world, { server, run, row: world.find(run.id) ?? row, task, ref });
  return 200;
}

/** The server that was asked in this try. */
function serverOf(world: ToldRunsWorld, { state: text }: RunRow, { tries }: ToldRun): GpuServer | undefined {
  const state = stateIn(text);
  if (state === undefined || (state.tries ?? 1) !== tries) return undefined;
  return world.servers().find(({ name }) => name === state.server);
}

type Adopted = {
  readonly server: GpuServer;
  readonly run: ToldRun;
  readonly row: RunRow;
  readonly task: Task;
  readonly ref: string;
};

function adopt(world: ToldRunsWorld, { server, run, row, task, ref }: Adopted): void {
  const assigned = server.runs.get(run.id);
  if (assigned?.phase === 'placed' && assigned.mustLook) return server.accepted(assigned, undefined, ref);
  // A run that was cancelled before anybody knew its id is cancelled at the vendor now.
  if (row.endedMs !== null) server.leaving.add(run.id);
  if (assigned === undefined && row.endedMs === null && row.status === 'timeout')
    revive(world, { server, run, row, task, ref });
  server.wake();
}

/** The end was unknown; the run is polled again. */
function revive({ now, commit, events }: ToldRunsWorld, { server, row, task, ref }: Adopted): void {
  const before = stateIn(row.state);
  if (before === undefined || (before.ref !== undefined && before.ref !== ref)) return;
  const line = `${server.name} tells that it has this run: its end is looked up`;
  const state = withLine({ ...shownAgain(before), isSent: true, ref }, 'info', line, now());
  commit(() => {
    events.keep(row, keptState(state));
    events.reached(row, { status: 'queued', atMs: now(), work: NO_WORK });
  });
  server.take(new AssignedRun(row, task, state, false));
}
