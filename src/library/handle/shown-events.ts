// What happened to a batch as a whole: its start, its pauses, the commands of users, its end.

import type { BatchEvent } from '../../batch/event-log.ts';
import { reasonWithRows } from '../../results/reason-with-rows.ts';
import { readEvents } from '../../results/event-files.ts';
import { readSummary } from '../../results/summary.ts';
import { readStarted } from '../../store/batch-file.ts';
import type { FoundBatch } from './found-batch.ts';

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
