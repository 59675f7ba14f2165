// The files of a run that has succeeded are copied before it is called a success. A copy that fails is repeated, less and less often;
// as long as the server is away, that is no failure of the copy.

import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../../../errors/error.ts';
import type { AssignedRun, StoredOutput } from './assigned-run.ts';
import type { Backend } from './backend.ts';
import { FileGone, type Desk } from './desk.ts';

const ATTEMPTS_MOST = 10;
/** The longest wait, as a multiple of the first. */
const SLOWEST = 64;

type Server = { readonly name: string; readonly backend: Backend; readonly away: unknown };

/** Returns why they cannot be copied; undefined if it does not go on. */
export async function storedOutputs(
  one: AssignedRun,
  server: Server,
  desk: Pick<Desk, 'store'>,
  { goesOn, everyMs }: { readonly goesOn: () => boolean; readonly everyMs: number },
): Promise<readonly StoredOutput[] | Error | undefined> {
  const made = one.state.made?.outputs ?? [];
  for (let failures = 0; goesOn();) {
    try {
      const stored = await desk.store(one, made, server.backend);
      return goesOn() ? stored : undefined;
    } catch (error) {
      if (error instanceof FileGone) return error;
      failures = server.away === undefined ? failures + 1 : 1;
      const { name } = server;
      const reason = errorMessage(error);
      if (failures >= ATTEMPTS_MOST)
        return new Error(`its files could not be copied from ${name} in ${failures} attempts: ${reason}`);
      one.work = { ...one.work, liveStatus: `its files cannot be copied from ${name}: ${reason}` };
      const waitMs = everyMs * Math.min(2 ** (failures - 1), SLOWEST);
      await wait(waitMs, undefined, { ref: false });
    }
  }
  return undefined;
}
