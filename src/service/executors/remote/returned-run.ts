// A run that waits at one server is given to another one that idles. If it was sent already, ComfyUI answers a removal alike whether there was
// something to remove or not, so what proves that the run never began is this: the server accepted it once, during the connection
// that is still open, and so tells it everything that it does; the run was removed, and is neither in the queue nor in the history;
// and its events until then have arrived, without one about this run. A run of which that is not known stays where it is.

import { hasBegun, sentOf, type AssignedRun } from './assigned-run.ts';
import { Unreachable } from './backend.ts';
import type { GpuServer } from './gpu-server.ts';
import { isThere } from './able-servers.ts';

function returnableAt({ runs, load, backend, socket, outbox }: GpuServer): AssignedRun | undefined {
  const open = backend.isPolled === true ? undefined : socket.connection();
  return [...runs.values()].findLast(
    (one) =>
      // Alone, it is sent at this moment.
      (load > 1 && outbox.isUnsent(one)) ||
      (one.phase === 'sent' &&
        open !== undefined &&
        one.acceptedOn === open &&
        !(one.isWithdrawn || one.workflow.isPaid || hasBegun(one))),
  );
}

/** Takes it out of the queue of its server; true if it is gone and surely never began. */
export async function takenBack(one: AssignedRun, server: GpuServer): Promise<boolean> {
  if (server.outbox.isUnsent(one)) return server.runs.delete(one.run.id);
  [one.phase, one.isWithdrawn] = ['returning', true];
  if (await isWithdrawn(one, server)) return server.runs.delete(one.run.id);
  one.phase = 'sent';
  server.wake();
  return false;
}

async function isWithdrawn(one: AssignedRun, { backend, runs, socket }: GpuServer): Promise<boolean> {
  const { id } = one.run;
  try {
    await backend.cancel(id, 'waiting');
    const seen = (await backend.poll([sentOf(id, one)])).get(id);
    if (seen?.at !== 'absent' || !(await socket.isAlive())) return false;
    return one.acceptedOn === socket.connection() && !hasBegun(one) && runs.get(id) === one;
  } catch (error) {
    if (error instanceof Unreachable) return false;
    throw error;
  }
}

type Move = { readonly idle: GpuServer; readonly holder: GpuServer; readonly one: AssignedRun };

/** A run that waits at one server and would end earlier at another one, which has idled for so long. */
export function betterPlaced(
  servers: readonly GpuServer[],
  nowMs: number,
  idlesMs: number,
  mayServe: (idle: GpuServer, one: AssignedRun) => boolean,
): Move | undefined {
  const idle = servers.find((one) => isThere(one) && one.load === 0 && nowMs - one.idleSinceMs > idlesMs);
  if (idle === undefined) return undefined;
  for (const holder of servers) {
    const one = returnableAt(holder);
    if (one === undefined || one.state.notPutAt?.includes(idle.name) === true) continue;
    if (isSooner(idle, holder, nowMs) && mayServe(idle, one)) return { idle, holder, one };
  }
  return undefined;
}

/** It is not known when the run before it ends if that takes longer than usual. */
const isSooner = (idle: GpuServer, holder: GpuServer, nowMs: number): boolean =>
  holder.freeAtMs <= nowMs || nowMs + idle.usual.runMs < holder.freeAtMs + holder.usual.runMs;
