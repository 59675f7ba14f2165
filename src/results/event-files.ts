// The log of a batch in its folder: pauses, and the commands of users, one JSON object a line.

import type { BatchEvent } from '../batch/event-log.ts';
import { EVENTS, eventsName } from '../store/batch-file.ts';
import { linesOf } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';

export async function writeEvents(
  store: Store,
  number: number,
  entries: readonly BatchEvent[],
): Promise<void> {
  if (entries.length === 0) return;
  await store.write(eventsName(number), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** Oldest first. A batch that continued as new may have written entries twice. */
export async function* readEvents(store: Store): AsyncGenerator<BatchEvent> {
  let earlier = new Set<string>();
  for (const name of (await store.list(EVENTS)).filter((one) => /^\d{5}\.jsonl$/.test(one))) {
    const lines = new Set<string>();
    for await (const line of linesOf(store, `${EVENTS}/${name}`)) {
      lines.add(line);
      if (!earlier.has(line)) yield JSON.parse(line) as BatchEvent;
    }
    earlier = lines;
  }
}
