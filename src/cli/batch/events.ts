// events: lists what happened to a batch: start, pauses, user commands, notifications, end; --rows adds each attempt of a row.

import type { FlagsOf } from '../flags/flags.ts';
import type { eventsFlags } from './batch-flags.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { problem } from '../../errors/error.ts';
import { terminalJson, terminalLine } from '../../errors/outside-text.ts';
import { EventReader, type ShownEvent } from '../../library/handle/ended-rows.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { AttemptEvent } from '../../results/all-events.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Printer, type Next } from '../context.ts';
import { attemptSchema, eventJson } from '../json/batch-json.ts';
import { shaped } from '../json/shape.ts';
import { nextCommand, toFollow } from '../next-command.ts';
import { span } from '../../options/text/printed-numbers.ts';

type EventsFlags = FlagsOf<typeof eventsFlags>;

const POLL_MS = 1_000;

export default async function events(
  this: Context,
  flags: EventsFlags,
  name: string | undefined,
): Promise<void> {
  const printer = printerFor(this, flags);
  const { output, rows, since } = flags;
  const batchFolder = await findBatch(configOf(flags), name);
  if (output === 'json' && rows)
    throw problem('E602', { what: '--rows prints lines', hint: 'use -o jsonl, or -o text' });
  const from = since === undefined ? {} : { since: new Date(Date.now() - since) };
  const reader = new EventReader(batchFolder, { rows, ...from });
  if (output === 'json') {
    printer.json((await Array.fromAsync(reader.fresh())).map(jsonOf));
    return;
  }
  for (;;) {
    for await (const event of reader.fresh()) print(printer, output, event);
    if (!flags.follow || reader.hasFinished) break;
    await wait(POLL_MS);
  }
  const next: Next = reader.hasFinished ? ['open', nextCommand('open', batchFolder)] : toFollow(batchFolder);
  printer.next(next);
}

function print(printer: Printer, output: EventsFlags['output'], event: ShownEvent | AttemptEvent): void {
  if (output === 'jsonl') printer.data(terminalJson(JSON.stringify(jsonOf(event))));
  else printer.data(event.event === 'attempt' ? attemptLine(event) : lineOf(event));
}

const jsonOf = (event: ShownEvent | AttemptEvent): object =>
  event.event === 'attempt' ? shaped(attemptSchema, event) : eventJson(event);

function attemptLine({ at, row, attempt, outcome, reason, ...run }: AttemptEvent): string {
  const { gpu_used, run_id, run_seconds, cost_usd } = run;
  const facts = [
    gpu_used,
    run_seconds === undefined ? undefined : span(run_seconds),
    cost_usd ? `$${cost_usd.toFixed(4)}` : undefined,
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
