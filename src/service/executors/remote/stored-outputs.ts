// The files of a run that has succeeded are copied before it is called a success, as often as it takes.

import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../../../errors/error.ts';
import type { AssignedRun, StoredOutput } from './assigned-run.ts';
import type { Backend } from './backend.ts';
import { FileGone, type Desk } from './desk.ts';

/** undefined if it does not go on. */
export async function storedOutputs(
  one: AssignedRun,
  server: { readonly name: string; readonly backend: Backend },
  desk: Pick<Desk, 'store'>,
  { goesOn, everyMs }: { readonly goesOn: () => boolean; readonly everyMs: number },
): Promise<readonly StoredOutput[] | FileGone | undefined> {
  const made = one.state.made?.outputs ?? [];
  while (goesOn()) {
    try {
      const stored = await desk.store(one, made, server.backend);
      return goesOn() ? stored : undefined;
    } catch (error) {
      if (error instanceof FileGone) return error;
      const liveStatus = `its files cannot be copied from ${server.name}: ${errorMessage(error)}`;
      one.work = { ...one.work, liveStatus };
      await wait(everyMs);
    }
  }
  return undefined;
}
