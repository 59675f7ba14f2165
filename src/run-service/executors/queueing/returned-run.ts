// Gives a run that waits at one server to another one that idles. ComfyUI answers a removal alike whether or
// not it removed anything, so a run that was already sent is proved unstarted by all of these: the server
// accepted it once, during the connection that is still open, and therefore reports everything about it; the
// run was removed, and is neither in the queue nor in the history; and the events up to then have arrived,
// without one about this run. A run without this proof stays where it is.

import { hasBegun, sentOf, type AssignedRun } from '../driving/assigned-run.ts';
import { Unreachable } from '../backend.ts';
import type { RunServer } from '../driving/run-server.ts';
import { isThere } from './able-servers.ts';

function returnableAt({ runs, load, backend, socket, outbox }: RunServer): AssignedRun | undefined {
  const open = backend.isPolled === true ? undefined : socket.connection();
  return [...runs.values()].findLast(
    (assigned) =>
      // A single run is being sent at this moment.
      (load > 1 && outbox.isUnsent(assigned)) ||
      (assigned.phase === 'sent' &&
        open !== undefined &&
        assigned.acceptedOn === open &&
        !(assigned.withdrawalAsked || assigned.task.isPaid || hasBegun(assigned))),
  );
}

/** Takes the run out of its server's queue; true if it is gone and certainly never began. */
export async function takenBack(assigned: AssignedRun, server: RunServer): Promise<boolean> {
  if (server.outbox.isUnsent(assigned)) return server.runs.delete(assigned.run.id);
  [assigned.phase, assigned.withdrawalAsked] = ['returning', true];
  if (await withdraw(assigned, server)) return server.runs.delete(assigned.run.id);
  assigned.phase = 'sent';
  server.wake();
  return false;
}

async function withdraw(assigned: AssignedRun, { backend, runs, socket }: RunServer): Promise<boolean> {
  const { id } = assigned.run;
  try {
    await backend.cancel(id, 'waiting');
    const sighting = (await backend.poll([sentOf(id, assigned)])).get(id);
    if (sighting?.at !== 'absent' || !(await socket.isAlive())) return false;
    return assigned.acceptedOn === socket.connection() && !hasBegun(assigned) && runs.get(id) === assigned;
  } catch (error) {
    if (error instanceof Unreachable) return false;
    throw error;
  }
}

type Move = { readonly idle: RunServer; readonly holder: RunServer; readonly assigned: AssignedRun };

/** A run that waits at one server and would end earlier at another one that has been idle for `idlesMs`. */
export function betterPlaced(
  servers: readonly RunServer[],
  nowMs: number,
  idlesMs: number,
  mayServe: (idle: RunServer, one: AssignedRun) => boolean,
): Move | undefined {
  const idle = servers.find(
    (server) => isThere(server) && server.load === 0 && nowMs - server.idleSinceMs > idlesMs,
  );
  if (idle === undefined) return undefined;
  for (const holder of servers) {
    const assigned = returnableAt(holder);
    if (assigned === undefined || assigned.state.notPutAt?.includes(idle.name) === true) continue;
    if (isSooner(idle, holder, nowMs) && mayServe(idle, assigned)) return { idle, holder, assigned };
  }
  return undefined;
}

/** Once the current run takes longer than usual, its end cannot be predicted. */
const isSooner = (idle: RunServer, holder: RunServer, nowMs: number): boolean =>
  holder.freeAtMs <= nowMs || nowMs + idle.usual.runMs < holder.freeAtMs + holder.usual.runMs;
