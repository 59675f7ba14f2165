// Writes the places of a pass into new pages of the batch's queue. They count only when the file of the pass exists.

import { MAX_LANES, type PassSegment, placeIn, laneOf } from '../batch/state/lanes.ts';
import {
  QUEUE_ROWS,
  queueName,
  queuePageOf,
  type Queued,
  laneWriter,
  readQueuePage,
} from '../sheet/placed-rows.ts';
import { changedInputs, type InputChange } from '../sheet/input-change.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, readSegments } from '../store/passes.ts';
import { type Store, undefinedIfAbsent, within } from '../store/store.ts';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaneSpec } from '../batch/params.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import type { BatchRow } from '../results/batch-rows.ts';
import { sizeOf } from '../sheet/size-classes.ts';
import { placeOf } from '../results/row-record.ts';

/** A lane, and the last page of its queue. */
type LaneNow = { readonly gpu: string; page: number };

export class QueuePages {
  readonly #layout: Store;
  readonly #lanes: LaneNow[];
  readonly segments: PassSegment[] = [];

  private constructor(layout: Store, lanes: LaneNow[]) {
    this.#layout = layout;
    this.#lanes = lanes;
  }

  /** After the pages of all passes before `pass`. */
  static async open(store: Store, file: BatchFile, pass: number): Promise<QueuePages> {
    const lanes = lanesNow(file, await readSegments(store, FIRST_PASS, pass - 1));
    return new QueuePages(layoutOf(store, file), lanes);
  }

  /** Adds rows that ask for this GPU; a page that a failed command has left is skipped. */
  async add(gpu: string, rows: Iterable<Queued> | AsyncIterable<Queued>, isNew = false): Promise<void> {
    for await (const some of chunksOf(rows)) {
      const lane = laneFor(this.#lanes, gpu);
      const spec = this.#lanes[lane] as LaneNow;
      do spec.page += 1;
      while (!(await this.#layout.create(queueName(lane, spec.page), some.join(''))));
      const first = (spec.page - 1) * QUEUE_ROWS + 1;
      this.segments.push({
        lane,
        ...(gpu === '' || isLadderLane(gpu) ? {} : { gpu }),
        first,
        count: some.length,
        ...(isNew ? { isNew } : {}),
      });
    }
  }
}

function lanesNow({ sheet }: BatchFile, added: readonly PassSegment[]): LaneNow[] {
  const lanes = sheet.lanes.map((lane) => ({ gpu: laneNameOf(lane), page: queuePageOf(lane.places) }));
  for (const { lane, gpu = '', first, count } of added) {
    lanes[lane] ??= { gpu, page: 0 };
    lanes[lane].page = Math.max(lanes[lane].page, queuePageOf(first + count - 1));
  }
  return lanes;
}

function laneFor(lanes: LaneNow[], gpu: string): number {
  const index = lanes.findIndex((lane) => lane.gpu === gpu);
  if (index >= 0) return index;
  if (lanes.length >= MAX_LANES) throw new Error(`a batch has at most ${MAX_LANES} lanes`);
  return lanes.push({ gpu, page: 0 }) - 1;
}

/** Maximum characters of a page, which is parsed as a whole: changed inputs may be long. */
const QUEUE_CHARS = 8 * 1024 * 1024;

async function* chunksOf(rows: Iterable<Queued> | AsyncIterable<Queued>): AsyncGenerator<readonly string[]> {
  let some: string[] = [];
  let chars = 0;
  for await (const row of rows) {
    const line = `${JSON.stringify(row)}\n`;
    const isFull = some.length === QUEUE_ROWS || chars + line.length > QUEUE_CHARS;
    if (isFull && some.length > 0) {
      yield some;
      [some, chars] = [[], 0];
    }
    some.push(line);
    chars += line.length;
  }
  if (some.length > 0) yield some;
}

/** The queue while it is written: the pages of the earlier one are still read. */
const NEW_QUEUE = 'new-queue';
const QUEUE = 'queue';
/** The queue as the sheet was laid out, while a rewritten one is in its place. */
const OWN_QUEUE = 'own-queue';

/** Returns the lanes that have rows. `orderOf`: the rows of a lane as they are to be sent. {@link restoreQueue} undoes it. */
export async function rewriteQueue(
  { laidOut, layout }: { readonly laidOut: LaidOut; readonly layout: Store },
  orderOf: (rows: AsyncIterable<Queued>, lane: number) => AsyncIterable<Queued>,
): Promise<readonly LaneSpec[]> {
  const aside = within(layout, NEW_QUEUE);
  const lanes: LaneSpec[] = [];
  for (const [at, lane] of laidOut.lanes.entries()) {
    const writer = laneWriter(aside, lanes.length);
    let places = 0;
    for await (const queued of orderOf(queuedIn(layout, laidOut, at), at)) {
      places += 1;
      await writer.add(queued);
    }
    await writer.end();
    if (places > 0) lanes.push({ ...lane, places });
  }
  const [queue, own] = [QUEUE, OWN_QUEUE].map((name) => join(layout.location, name)) as [string, string];
  if (existsSync(own)) await removeAll(queue);
  else {
    await mkdir(own);
    await rename(queue, join(own, QUEUE)).catch(undefinedIfAbsent);
  }
  if (lanes.length > 0) await rename(join(aside.location, QUEUE), queue);
  await removeAll(aside.location);
  return lanes;
}

/** The queue is again as the sheet was laid out. */
export async function restoreQueue({ location }: Store): Promise<void> {
  const own = join(location, OWN_QUEUE);
  if (!existsSync(own)) return;
  await removeAll(join(location, QUEUE));
  await rename(join(own, QUEUE), join(location, QUEUE)).catch(undefinedIfAbsent);
  await removeAll(own);
}

/** A batch has one queue. True if it was rewritten, which cannot be undone any more. */
export async function settleQueue({ location }: Store): Promise<boolean> {
  const own = join(location, OWN_QUEUE);
  const isRewritten = existsSync(own);
  await removeAll(own);
  return isRewritten;
}

const removeAll = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

export async function* queuedIn(
  layout: Store,
  { isQueued, lanes }: Pick<LaidOut, 'isQueued' | 'lanes'>,
  lane: number,
): AsyncGenerator<Queued> {
  const { places = 0 } = lanes[lane] ?? {};
  for (let number = 1; number <= places; number += QUEUE_ROWS)
    if (!isQueued) for (let row = number; row < number + QUEUE_ROWS && row <= places; row += 1) yield { row };
    else yield* (await readQueuePage(layout, placeIn(lane, number))).value;
}

// The lanes of a ladder, for rows that are sent again: such a row climbs on where its size class is, unless it was sent on a GPU
// that a user chose.
/** No GPU has such a name. */
const LADDER_LANE = 'size ';

/** A name for each lane: its GPU, or its size class; '' for the GPU of the deployment, if it is not known. */
const laneNameOf = ({ gpu = '', size }: Pick<LaneSpec, 'gpu' | 'size'>): string =>
  size === undefined ? gpu : `${LADDER_LANE}${size}`;

const isLadderLane = (name: string): boolean => name.startsWith(LADDER_LANE);

/** The name of the lane in which a row climbs, with another size if `change` gives it one; undefined if it is on no ladder. */
export function ladderLaneOf(
  { sheet }: BatchFile,
  { row, record }: BatchRow,
  change?: InputChange,
): string | undefined {
  const { ladder } = sheet.options;
  if (ladder === undefined || row.gpu !== undefined) return undefined;
  const isResized = sheet.sizedBy?.some((input) => isChanged(change, input)) ?? false;
  if (record !== undefined && record.reused_from === undefined && !isResized) {
    const lane = sheet.lanes[laneOf(placeOf(record))];
    return lane?.size === undefined ? undefined : laneNameOf(lane);
  }
  const inputs = changedInputs(changedInputs(row.inputs, record?.change), change);
  const lane = sizedLane(sheet, sizeOf(inputs, sheet.sizedBy ?? []));
  // Without any lane of the ladder nothing was learnt, and the highest rung is the one that works.
  return lane === undefined ? ladder.at(-1) : laneNameOf(lane);
}

const isChanged = (change: InputChange | undefined, input: string): boolean =>
  change !== undefined && (Object.hasOwn(change.set, input) || (change.unset?.includes(input) ?? false));

/** The lane of a size, else the one for the largest rows. */
function sizedLane({ lanes }: BatchFile['sheet'], size: number): LaneSpec | undefined {
  const climbing = lanes.filter((lane) => lane.size !== undefined);
  const own = climbing.find(({ least = 0, most = 0 }) => size >= least && size <= most);
  return own ?? climbing.toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0)).at(-1);
}
