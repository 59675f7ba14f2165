// events: lists what happened to a batch as a whole: its start, its pauses, the commands of users, its end.

import { setTimeout as wait } from 'node:timers/promises';
import type { BatchEvent } from '../batch/batch-event.ts';
import { EXIT } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { readEvents } from '../results/event-files.ts';
import { readSummary } from '../results/summary.ts';
import { readStarted } from '../store/batch-file.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';

type Flags = {
  readonly follow: boolean;
  readonly since?: number;
  readonly out?: string;
  readonly output: 'text' | 'json' | 'jsonl';
};

type ShownEvent = Omit<BatchEvent, 'at' | 'event'> & {
  readonly at: string;
  readonly event: BatchEvent['event'] | 'created' | 'started' | 'finished';
};

const LOOK_MS = 1_000;

export default async function events(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  const from = flags.since === undefined ? 0 : Date.now() - flags.since;
  const isRecent = ({ at }: ShownEvent): boolean => Date.parse(at) >= from;
  if (flags.output === 'json') {
    printer.json((await eventsOf(found)).filter(isRecent));
    return EXIT.ok;
  }
  const shown = new Set<string>();
  for (;;) {
    const all = await eventsOf(found);
    for (const event of all.filter(isRecent)) {
      const text = JSON.stringify(event);
      if (!shown.has(text)) print(printer, flags.output, event);
      shown.add(text);
    }
    if (!flags.follow || all.at(-1)?.event === 'finished') return EXIT.ok;
    await wait(LOOK_MS);
  }
}

function print(printer: Printer, output: Flags['output'], event: ShownEvent): void {
  printer.data(output === 'jsonl' ? JSON.stringify(event) : lineOf(event));
}

/** Oldest first. */
async function eventsOf({ file, store }: FoundBatch): Promise<readonly ShownEvent[]> {
  const [started, summary] = await Promise.all([readStarted(store), readSummary(store)]);
  const all: ShownEvent[] = [{ at: file.createdAt, event: 'created' }];
  if (started) all.push({ at: started.at, event: 'started' });
  for await (const { at, ...event } of readEvents(store))
    all.push({ at: new Date(at).toISOString(), ...event });
  all.sort((a, b) => a.at.localeCompare(b.at));
  if (summary) all.push({ at: summary.ended_at, event: 'finished' });
  return all;
}

function lineOf({ at, event, kind, by, reason, note }: ShownEvent): string {
  const who = by === undefined ? '' : ` by ${by}`;
  const details = [note, reason].filter(Boolean).join('; ');
  return terminalLine(
    `${at}  ${event}${kind === undefined ? '' : ` (${kind})`}${who}${details === '' ? '' : `: ${details}`}`,
  );
}
