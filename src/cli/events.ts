// events: lists what happened to a batch as a whole: its start, its pauses, the commands of users, notifications, its end; and
// with --rows each attempt of a row.

import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, problem } from '../errors/error.ts';
import { terminalJson, terminalLine } from '../errors/outside-text.ts';
import { eventsOf, type ShownEvent } from '../library/shown-events.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { attemptsIn, partsWithAttempts, type AttemptEvent } from '../results/all-events.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';

type Flags = {
  readonly follow: boolean;
  readonly rows: boolean;
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
  if (flags.output === 'json' && flags.rows)
    throw problem('E602', { what: '--rows prints lines', hint: 'use -o jsonl, or -o text' });
  if (flags.output === 'json') {
    printer.json((await eventsOf(found)).filter(isRecent));
    return EXIT.ok;
  }
  const shown = new Set<string>();
  const parts = new Set<string>();
  for (;;) {
    const all = await eventsOf(found);
    for (const event of all.filter(isRecent)) {
      const text = JSON.stringify(event);
      if (!shown.has(text)) print(printer, flags.output, event);
      shown.add(text);
    }
    if (flags.rows) await printAttempts(printer, flags.output, found, { parts, from });
    if (!flags.follow || all.at(-1)?.event === 'finished') return EXIT.ok;
    await wait(LOOK_MS);
  }
}

function print(printer: Printer, output: Flags['output'], event: ShownEvent): void {
  printer.data(output === 'jsonl' ? JSON.stringify(event) : lineOf(event));
}

/** Those of the parts that were not printed before. */
async function printAttempts(
  printer: Printer,
  output: Flags['output'],
  { store }: FoundBatch,
  { parts, from }: { readonly parts: Set<string>; readonly from: number },
): Promise<void> {
  for (const name of await partsWithAttempts(store)) {
    if (parts.has(name)) continue;
    parts.add(name);
    for (const attempt of await attemptsIn(store, name))
      if (attempt.at === undefined ? from === 0 : Date.parse(attempt.at) >= from)
        printer.data(output === 'jsonl' ? terminalJson(JSON.stringify(attempt)) : attemptLine(attempt));
  }
}

function attemptLine({ at, row, attempt, outcome, reason, ...run }: AttemptEvent): string {
  const { gpu_used, run_id, run_seconds, cost_usd } = run;
  const facts = [
    gpu_used,
    run_seconds === undefined ? undefined : `${run_seconds} s`,
    cost_usd === undefined ? undefined : `$${cost_usd.toFixed(4)}`,
    run_id,
    reason,
  ];
  const details = facts.filter(Boolean).join(', ');
  return terminalLine(
    `${at ?? '-'}  row ${row}, attempt ${attempt}: ${outcome}${details === '' ? '' : `; ${details}`}`,
  );
}

function lineOf({ at, event, kind, by, reason, note }: ShownEvent): string {
  const who = by === undefined ? '' : ` by ${by}`;
  const details = [note, reason].filter(Boolean).join('; ');
  return terminalLine(
    `${at}  ${event}${kind === undefined ? '' : ` (${kind})`}${who}${details === '' ? '' : `: ${details}`}`,
  );
}
