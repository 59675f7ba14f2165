// Makes a settled batch exist. The entry in the log makes it; nothing is sent. What a killed command leaves behind is not a batch:
//
//   .incoming-…/            the copy of the sheet and its pages, while it is read; always on this machine
//   .names/<content>        the batch's name, so that the same rows in two files are one batch
//   .made/<number>.json     the entry of the log that made it exist (`batch-log.ts`)
//   <batch>/layout/<mark>/  the copy and its pages
//   <batch>/batch.json      names the mark; created once: of two commands, one makes the batch and the other attaches

import { chmod } from 'node:fs/promises';
import type { LaidOut } from '../sheet/sheet.ts';
import { BATCH_FILE, batchText, LAYOUT } from '../store/batch-file.ts';
import { locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { within } from '../store/store.ts';
import { batchIn, namesFor, takeBack } from './batch-place.ts';
import { commit, type Comparing } from './commit.ts';
import { rememberPlace } from './known-places.ts';
import { saidIfSlow } from './long-comparison.ts';
import { rowsIn } from './reuse/overlap.ts';
import { copyReused, hasSettled } from './reuse/reuse-rows.ts';
import { joined, nameOf, sameAs } from './reuse/reuse.ts';
import { dropErrorList } from './stale-folders.ts';
import {
  buysAll,
  placesFor,
  type ComparedBatch,
  type CreateParams,
  type Decided,
  type SettledBatch,
} from './draft-stages.ts';

/** `laidOut`: undefined if another command has made it. */
export type CreatedBatch = BatchFolder & {
  readonly laidOut: LaidOut | undefined;
};

/** `params`: with what the user has decided. */
type Making = {
  readonly params: CreateParams;
  readonly compared: ComparedBatch;
  readonly decided: Decided;
};

/**
 * Makes the batch under the first name that is free, or attaches to the one that has the same rows. The queue in the layout is settled
 * before. `overtaken`: another command has made something with some of the rows.
 */
export async function makeBatch(
  making: Making,
  { finalDraft }: SettledBatch,
): Promise<CreatedBatch | 'overtaken'> {
  const { params, compared, decided } = making;
  const { out, copy, name } = params;
  const isNamed = decided.again || name !== undefined;
  const wanted = isNamed ? compared.draft.batch : await nameOf(out, finalDraft);
  // The copy was private until now; workers and readers of results may be other users.
  await chmod(copy.folder, 0o777 & ~process.umask());
  for await (const batch of namesFor(out, wanted, decided.again)) {
    const folder = locationOf(out, batch);
    const file = { ...finalDraft.file, batch, createdAt: new Date().toISOString() };
    const place = { batch, folder, file, store: openStore(folder) };
    const existing = await batchIn(place, decided.again);
    if (existing !== undefined) return { ...joined(existing, sameAs(finalDraft)), laidOut: undefined };
    const made = await createAt(place, finalDraft.laidOut, making);
    if (made !== undefined) return made;
  }
  throw new Error(`no free name for ${finalDraft.batch}`);
}

/** undefined if another command has taken the name for other rows. Unless the batch is made, nothing of it stays in its place. */
async function createAt(
  place: BatchFolder,
  laidOut: LaidOut,
  { params, compared, decided }: Making,
): Promise<CreatedBatch | 'overtaken' | undefined> {
  const { store, file } = place;
  const { out, home, copy, signal } = params;
  const layout = `${LAYOUT}/${file.mark}`;
  await using moved = new AsyncDisposableStack();
  moved.defer(() => takeBack(store, layout, copy.folder));
  const from = await store.bring(layout, copy.folder);
  if (hasSettled(file)) await copyReused(within(store, layout), out);
  const places = placesFor(params, place);
  const rows = rowsIn({ file, layout: openStore(from) });
  const creation = { mark: file.mark, batch: place.batch, file: BATCH_FILE, text: batchText(file) };
  const checkFree = async (): Promise<boolean> => {
    signal?.throwIfAborted();
    return !(await store.exists(BATCH_FILE));
  };
  // Keep this order: other commands look for the place while they have the lock.
  if (params.places !== undefined) rememberPlace(params.places, { out, home, file });
  const onDoubt = (): void => void moved.move();
  const made = await saidIfSlow(params.onComparing, () =>
    commit({ out, file, rows, places, creation, checkFree, onDoubt }, comparingOf(compared, decided)),
  );
  if (made === 'made') {
    moved.move();
    await dropErrorList(out, copy.name);
    return { ...place, laidOut };
  }
  if (made === 'overtaken') return made;
  const winner = await batchIn(place, decided.again);
  return winner && { ...joined(winner, sameAs({ file, laidOut })), laidOut: undefined };
}

/** Rows that are bought whatever other batches have need no comparison. */
function comparingOf(
  { position, compared, comparedElsewhere }: ComparedBatch,
  { answers, again }: Decided,
): Comparing | undefined {
  if (again || buysAll(answers)) return undefined;
  return {
    position,
    compared: new Map([...compared, ...comparedElsewhere]),
    isElsewhereMeant: answers.elsewhere === 'again',
  };
}
