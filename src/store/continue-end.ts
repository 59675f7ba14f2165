// Gives the end of a batch to the workflow run that continues it:
//
//   ended ──mark created──▶ continued by this run ──started.json replaced──▶ held by this run
//     └── another run, or a rebuild, has created the mark: refused

import { createContinued, readContinued } from './passes.ts';
import { isSameRun, replaceStarted, type StartedFile } from './started.ts';
import type { Store } from './store.ts';

type HeldRun = Required<Pick<StartedFile, 'workflow' | 'holder'>>;

/**
 * False if another run continues the end with pass `ended`: a second one would buy the rows of the later passes a
 * second time, whatever pass it names. `confirm`: throws for an attempt that Temporal has given up, which must
 * neither leave a mark nor take the batch.
 */
export async function continueEnd(
  store: Store,
  ended: number,
  run: HeldRun,
  confirm: () => Promise<void>,
): Promise<boolean> {
  await confirm();
  const isNew = await createContinued(store, ended, run.workflow);
  const before = isNew ? run.workflow : await readContinued(store, ended);
  if (before === undefined || !isSameRun(before, run.workflow)) return false;
  await replaceStarted(store, async () => {
    await confirm();
    return run;
  });
  return true;
}
