// Lists everything that happened to a batch, one JSON object a line: pauses, commands and notifications
// from `events/`, and attempts from the parts. Parts are read once, in the order in which they were
// written, so a million rows take constant memory; events are almost, but not exactly, in chronological
// order.

import { problem } from '../errors/error.ts';
import { EVENTS, eventsName, type BatchFile } from '../store/batch-file.ts';
import { jsonLines, Pieces, linesOf } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { reasonWithRows } from './batch-rows.ts';
import { isReusedPart, parsePart, PARTS, partNames } from './parts.ts';
import type { AttemptRecord, PartRecord } from './row-record.ts';
import type { BatchEvent } from '../batch/events.ts';

/** An attempt of a row. `at`: its end, if the service reported it; all times are by the service's clock. */
export type AttemptEvent = AttemptRecord & {
  readonly at?: string;
  readonly event: 'attempt';
  readonly row: number;
  /** When the machine started the run. */
  readonly started_at?: string;
};

/** The attempts in a part, without those that an earlier record of the row has. */
export async function attemptsIn(store: Store, name: string): Promise<readonly AttemptEvent[]> {
  const text = await store.read(`${PARTS}/${name}`);
  if (text === undefined) throw problem('E504', { what: `${store.location} has no ${PARTS}/${name}` });
  return parsePart(text).flatMap(eventsOf);
}

function eventsOf({ row, attempts, before }: PartRecord): readonly AttemptEvent[] {
  return attempts.slice(before?.attempts ?? 0).map((attempt) => ({
    ...(attempt.ended_at === undefined ? {} : { at: attempt.ended_at }),
    event: 'attempt' as const,
    row,
    ...attempt,
    ...startOf(attempt),
  }));
}

/** A run is queued from its creation until its machine starts it. */
function startOf({ created_at, queue_seconds }: AttemptRecord): Pick<AttemptEvent, 'started_at'> {
  if (created_at === undefined || queue_seconds === undefined) return {};
  return { started_at: new Date(Date.parse(created_at) + queue_seconds * 1_000).toISOString() };
}

/** The names of the parts with runs of this batch, oldest first. */
export const partsWithAttempts = async (store: Store): Promise<readonly string[]> =>
  (await partNames(store)).filter((name) => !isReusedPart(name));

type EventLine = { readonly at?: string; readonly event: string };

type BatchIdentity = Pick<BatchFile, 'mark' | 'sheet'>;

/** The events of the batch as a whole, with rows instead of places. */
async function* namedEvents(store: Store, file: BatchIdentity) {
  for await (const event of readEvents(store)) yield reasonWithRows(store, file, event);
}

/** The events, each as an object with `at` (ISO 8601) and `event`. */
export async function* allEvents(store: Store, file: BatchIdentity): AsyncGenerator<EventLine> {
  const batch = namedEvents(store, file);
  let next = await batch.next();
  const until = async function* (at: string): AsyncGenerator<EventLine> {
    for (; !next.done && shown(next.value).at <= at; next = await batch.next()) yield shown(next.value);
  };
  for (const name of await partsWithAttempts(store)) {
    const attempts = await attemptsIn(store, name);
    const times = attempts.flatMap(({ at }) => at ?? []);
    const earliest = times.reduce((least, at) => (at < least ? at : least), times[0] ?? '');
    yield* until(earliest);
    yield* attempts;
  }
  yield* until('~');
}

const shown = <E extends { readonly at: number }>({ at, ...event }: E) => ({
  at: new Date(at).toISOString(),
  ...event,
});

type Closed = {
  readonly file: Pick<BatchFile, 'createdAt' | keyof BatchIdentity>;
  readonly store: Store;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly confirm: () => Promise<void>;
};

/** Writes `events.jsonl`, a view that is rewritten when rows are sent again. */
export async function writeAllEvents({ file, store, startedAt, endedAt, confirm }: Closed): Promise<void> {
  const events = new Pieces(() => store.draft('events.jsonl', 'view'));
  const add = (line: EventLine): Promise<void> | undefined => events.add(`${JSON.stringify(line)}\n`);
  try {
    await add({ at: file.createdAt, event: 'created' });
    await add({ at: new Date(startedAt).toISOString(), event: 'started' });
    for await (const line of allEvents(store, file)) await add(line);
    await add({ at: new Date(endedAt).toISOString(), event: 'finished' });
    await confirm();
    await events.commit();
  } finally {
    await events.discard();
  }
}

export async function writeEvents(store: Store, number: number, entries: readonly BatchEvent[]) {
  if (entries.length > 0) await store.write(eventsName(number), jsonLines(entries));
}

/** Oldest first. A batch that continued as new may have written entries twice. */
export async function* readEvents(store: Store): AsyncGenerator<BatchEvent> {
  let earlier = new Set<string>();
  for (const name of (await store.list(EVENTS)).filter((fileName) => /^\d{5}\.jsonl$/.test(fileName))) {
    const lines = new Set<string>();
    for await (const line of linesOf(store, `${EVENTS}/${name}`)) {
      lines.add(line);
      if (!earlier.has(line)) yield JSON.parse(line) as BatchEvent;
    }
    earlier = lines;
  }
}
