// Reads what happened to a batch, again and again while it runs: what was read before does not come again.

import { attemptsIn, partsWithAttempts, readEvents, type AttemptEvent } from '../../results/all-events.ts';
import type { FoundBatch } from './found-batch.ts';
import type { BatchEvent } from '../../batch/event-log.ts';
import { reasonWithRows } from '../../results/batch-rows.ts';
import { readSummary } from '../../results/summary.ts';
import { readStarted } from '../../store/batch-file.ts';

/** What of it is wanted. */
export type EventFilter = {
  /** Also each attempt of a row: its times, GPU, outcome and cost. */
  readonly rows?: boolean;
  /** Only events from this time on. */
  readonly since?: Date;
};

export class EventReader {
  readonly #found: FoundBatch;
  readonly #filter: EventFilter;
  readonly #shown = new Set<string>();
  readonly #parts = new Set<string>();
  /** Whether the last of the events was the end of the batch. */
  hasFinished = false;

  constructor(found: FoundBatch, filter: EventFilter) {
    this.#found = found;
    this.#filter = filter;
  }

  async *fresh(): AsyncGenerator<ShownEvent | AttemptEvent> {
    const all = await eventsOf(this.#found);
    for (const event of all.filter(({ at }) => this.#isWanted(at))) {
      const text = JSON.stringify(event);
      if (this.#shown.has(text)) continue;
      this.#shown.add(text);
      yield event;
    }
    if (this.#filter.rows) yield* this.#attempts();
    this.hasFinished = all.at(-1)?.event === 'finished';
  }

  async *#attempts(): AsyncGenerator<AttemptEvent> {
    const { store } = this.#found;
    for (const name of await partsWithAttempts(store)) {
      if (this.#parts.has(name)) continue;
      this.#parts.add(name);
      for (const attempt of await attemptsIn(store, name)) if (this.#isWanted(attempt.at)) yield attempt;
    }
  }

  /** An attempt whose end the service did not name has no time. */
  #isWanted(at: string | undefined): boolean {
    const { since } = this.#filter;
    return since === undefined || (at !== undefined && Date.parse(at) >= since.getTime());
  }
}

/** `at`: in ISO 8601. */
export type ShownEvent = Omit<BatchEvent, 'at' | 'event' | 'places'> & {
  readonly at: string;
  readonly event: BatchEvent['event'] | 'created' | 'started' | 'finished';
};

/** Oldest first. */
export async function eventsOf({ file, store }: FoundBatch): Promise<readonly ShownEvent[]> {
  const [started, summary] = await Promise.all([readStarted(store), readSummary(store)]);
  const all: ShownEvent[] = [{ at: file.createdAt, event: 'created' }];
  if (started) all.push({ at: started.at, event: 'started' });
  for await (const { at, ...event } of readEvents(store))
    all.push({ at: new Date(at).toISOString(), ...(await reasonWithRows(store, file, event)) });
  all.sort((a, b) => a.at.localeCompare(b.at));
  if (summary) all.push({ at: summary.ended_at, event: 'finished' });
  return all;
}
