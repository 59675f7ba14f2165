// events: lists what happened to a batch as a whole: its start, its pauses, the commands of users, its end.

import { setTimeout as wait } from 'node:timers/promises';
import { EXIT } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { eventsOf, type ShownEvent } from '../library/shown-events.ts';
import { findBatch } from '../library/found-batch.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';

type Flags = {
  readonly follow: boolean;
  readonly since?: number;
  readonly out?: string;
  readonly output: 'text' | 'json' | 'jsonl';
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

function lineOf({ at, event, kind, by, reason, note }: ShownEvent): string {
  const who = by === undefined ? '' : ` by ${by}`;
  const details = [note, reason].filter(Boolean).join('; ');
  return terminalLine(
    `${at}  ${event}${kind === undefined ? '' : ` (${kind})`}${who}${details === '' ? '' : `: ${details}`}`,
  );
}
