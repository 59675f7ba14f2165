// list and status: what there is, from the folders, and from the workflow where one lives.

import { EXIT } from '../errors.ts';
import { OUTCOMES, type Outcome } from '../batch/outcome.ts';
import type { BatchView } from '../batch/view.ts';
import { terminalLine } from '../outside-text.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import { rowsOf } from '../results/rows.ts';
import { allBatches, findBatch, type FoundBatch } from './batch-name.ts';
import { voiceOf, type Context } from './context.ts';
import { configOf } from './order.ts';
import { openLivingSession } from './session.ts';
import { count, money, span } from './words.ts';

type Flags = { readonly out?: string; readonly output: 'text' | 'json' };

/** `interrupted`: it goes on when the same command is given again. */
export type Standing = {
  readonly batch: string;
  readonly folder: string;
  readonly state: BatchView['state'] | 'interrupted' | 'starting';
  readonly rows: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly view?: BatchView;
  readonly summary?: Summary;
};

export async function list(this: Context, flags: Flags): Promise<number> {
  const voice = voiceOf(this);
  const found = await allBatches(configOf(flags).out);
  const standings = await Promise.all(found.map((one) => standingFromFolder(one)));
  if (flags.output === 'json') voice.json(standings);
  else for (const one of standings) voice.data(lineOf(one));
  if (found.length === 0) voice.say('no batches here yet');
  return EXIT.ok;
}

export async function status(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const voice = voiceOf(this);
  const config = configOf(flags);
  const found = await findBatch(config.out, name);
  const standing = await standingFromFolder(found);
  const view = standing.summary ? undefined : await liveView(config, voice, found.batch);
  const now: Standing = view
    ? { ...standing, state: view.state, outcomes: view.tally.outcomes, view }
    : standing;
  if (flags.output === 'json') voice.json(now);
  else voice.data(textOf(now));
  return EXIT.ok;
}

/** What the workflow says; undefined where no server of ours lives, or none answers for this batch. */
async function liveView(
  config: ReturnType<typeof configOf>,
  voice: ReturnType<typeof voiceOf>,
  batch: string,
): Promise<BatchView | undefined> {
  const session = await openLivingSession({ config, local: false, voice });
  if (session === undefined) return undefined;
  try {
    const known = await session.batches.find(batch);
    // A workflow that was terminated said last that it runs.
    if (known?.status !== 'RUNNING' && known?.status !== 'COMPLETED') return undefined;
    const { view, isUnattended } = await session.batches.standing(batch);
    if (isUnattended)
      voice.say(voice.paint('yellow', 'no worker does what the batch waits for: this is what it said last'));
    return view;
  } finally {
    await session.close();
  }
}

async function standingFromFolder({ batch, folder, file, store }: FoundBatch): Promise<Standing> {
  const summary = await readSummary(store);
  const own = { batch, folder, rows: file.sheet.rows };
  if (summary) return { ...own, state: 'finished', outcomes: summary.outcomes, summary };
  const outcomes: Record<Outcome, number> = {
    succeeded: 0,
    failed: 0,
    'timed-out': 0,
    cancelled: 0,
    refused: 0,
    unknown: 0,
  };
  for await (const { record } of rowsOf(store, file)) if (record) outcomes[record.outcome] += 1;
  return { ...own, state: 'interrupted', outcomes };
}

const lineOf = ({ batch, state, rows, outcomes }: Standing): string =>
  [batch, state, `${count(doneOf(outcomes))}/${count(rows)}`, outcomeWords(outcomes)]
    .filter(Boolean)
    .join('\t');

function textOf({ batch, folder, state, rows, outcomes, view, summary }: Standing): string {
  const lines = [
    `${batch}  ${state}`,
    `  rows      ${count(doneOf(outcomes))} of ${count(rows)} have their outcome${outcomeWords(outcomes) && `: ${outcomeWords(outcomes)}`}`,
    ...(view
      ? [
          `  slots     ${view.sending + view.running + view.uncertain} of ${view.cap} in use${view.uncertain ? `, ${view.uncertain} uncertain` : ''}`,
        ]
      : []),
    ...(view?.reason === undefined ? [] : [`  reason    ${terminalLine(view.reason)}`]),
    ...(summary ? [`  took      ${span(summary.seconds * 1000)}`] : []),
    `  cost      ${money(summary?.cost_usd ?? view?.costUsd ?? 0)}, estimated`,
    `  folder    ${folder}`,
  ];
  return lines.join('\n');
}

const doneOf = (outcomes: Readonly<Record<Outcome, number>>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0);

const outcomeWords = (outcomes: Readonly<Record<Outcome, number>>): string =>
  OUTCOMES.filter((outcome) => outcomes[outcome] > 0)
    .map((outcome) => `${count(outcomes[outcome])} ${outcome}`)
    .join(', ');
