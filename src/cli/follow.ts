// Following a batch until it ends, pauses, takes too long, or the user goes.

import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, problem, reasonOf } from '../errors.ts';
import type { BatchView } from '../batch/view.ts';
import { terminalLine } from '../outside-text.ts';
import { notSucceeded, readSummary, type Summary } from '../results/summary.ts';
import type { FoundBatch } from './batch-name.ts';
import type { Voice } from './context.ts';
import { hearInterrupts, type Interrupts } from './interrupt.ts';
import { openLive, type Live } from './live.ts';
import { pauseHint } from './pause-words.ts';
import type { Session } from './session.ts';
import { count, money, plural, span, type Paint } from './words.ts';

export type FollowOrder = {
  readonly session: Session;
  readonly found: FoundBatch;
  readonly voice: Voice;
  readonly process: NodeJS.Process;
  readonly output: 'text' | 'json';
  readonly timeoutMs?: number;
};

const LOOK_MS = { terminal: 250, elsewhere: 500 };
/** A batch that stands still for so long is worth a word. */
const SILENT_MS = 15_000;

type Ending = 'finished' | 'interrupted' | 'paused' | 'timeout';

/** Resolves with the exit code; the session is the caller's to close. Throws E501 where the batch is paused. */
export async function follow(order: FollowOrder): Promise<number> {
  const { session, found, voice } = order;
  const interrupts = hearInterrupts(order.process);
  const live = openLive(voice, order.process.stderr);
  const done = new AbortController();
  const watched = { view: undefined as BatchView | undefined };
  try {
    const ending = await Promise.race([
      lookOn(order, live, done.signal, watched),
      session.batches.finished(found.batch, done.signal).then(() => 'finished' as const),
      interrupts.first,
    ]);
    live.end();
    done.abort();
    return await END[ending]({ ...order, view: watched.view, interrupts });
  } finally {
    done.abort();
    interrupts.close();
  }
}

type Ended = FollowOrder & { readonly view: BatchView | undefined; readonly interrupts: Interrupts };

const END: Readonly<Record<Ending, (ended: Ended) => Promise<number>>> = {
  finished: async (ended) => {
    const summary = await readSummary(ended.found.store);
    if (summary === undefined)
      throw problem('E506', { batch: ended.found.batch, reason: 'its folder has no summary.json' });
    sayEnd(ended, summary);
    return notSucceeded(summary) === 0 ? EXIT.ok : EXIT.someRowsFailed;
  },
  paused: async ({ found, view }) => {
    throw problem('E501', {
      batch: found.batch,
      reason: view?.reason ?? '',
      hint: pauseHint(found.batch, view?.paused?.kind),
    });
  },
  timeout: async ({ voice, found }) => {
    voice.say(`${found.batch} was waited for as long as asked`);
    return EXIT.waitedTooLong;
  },
  interrupted: async (ended) => {
    if (ended.session.stack) await stopAll(ended);
    else detach(ended);
    return EXIT.interrupted;
  },
};

async function lookOn(
  { session, found, voice, timeoutMs }: FollowOrder,
  live: Live,
  done: AbortSignal,
  watched: { view: BatchView | undefined },
): Promise<Ending> {
  const began = performance.now();
  const said = new Set<string>();
  let heardAt = began;
  let reason = '';
  while (!done.aborted) {
    assertRoom(session);
    try {
      const { view, isUnattended } = await session.batches.standing(found.batch);
      watched.view = view;
      if (!isUnattended) heardAt = performance.now();
      if (view !== undefined) live.show(view, performance.now());
      else await sayTrouble(session, found.batch, live, said);
      if (view?.state === 'paused') return 'paused';
      // Whoever waits for the end at the server's old address would never hear of it.
      if (view?.state === 'finished') return 'finished';
      reason = 'no worker does what it waits for';
    } catch (error) {
      [reason = ''] = reasonOf((error as Error).cause ?? error).split('\n');
    }
    if (performance.now() - heardAt > SILENT_MS) {
      live.note(voice.paint('yellow', `the batch stands still: ${terminalLine(reason)}`));
      heardAt = performance.now();
    }
    if (timeoutMs !== undefined && performance.now() - began > timeoutMs) return 'timeout';
    await wait(voice.isTerminal ? LOOK_MS.terminal : LOOK_MS.elsewhere);
  }
  return 'interrupted';
}

/** Servers that cannot remember are ended at once: what is on the wire stays uncertain, and is found later. */
function assertRoom({ stack }: Session): void {
  try {
    stack?.assertRoom();
  } catch (error) {
    stack?.hurry();
    throw error;
  }
}

/** A batch that has not read its order yet may be kept from it: each reason is told once. */
async function sayTrouble({ batches }: Session, batch: string, live: Live, said: Set<string>): Promise<void> {
  const trouble = await batches.trouble(batch);
  if (trouble === undefined || said.has(trouble)) return;
  said.add(trouble);
  live.note(`the batch has not begun: ${terminalLine(trouble)}; its worker tries again`);
}

/** D7: the embedded servers go with us, unless others follow them; the same command goes on where this one stopped. */
async function stopAll({ session, voice, found, interrupts, view }: Ended): Promise<void> {
  voice.say(`\nstopping; ${progress(view)}, nothing is lost`);
  interrupts.onSecond(() => session.stack?.hurry());
  let said = -1;
  await session.close((onWire) => {
    if (onWire !== said && onWire > 0) {
      voice.say(
        `${plural(onWire, 'request')} on the wire; waiting for the answers (Ctrl-C again leaves them uncertain)`,
      );
    }
    said = onWire;
  });
  voice.say(`stopped. The same command goes on where ${found.batch} stopped.`);
}

function detach({ voice, found, view }: Ended): void {
  const { batch } = found;
  voice.say(`\nDetached. ${batch} goes on: ${progress(view)}.`);
  voice.say(`  follow   runsheet watch ${batch}\n  stop     runsheet cancel ${batch}`);
}

const progress = (view: BatchView | undefined): string =>
  view === undefined ? 'not begun' : `${count(view.done)} of ${count(view.rows)} rows done`;

/** The closing lines, or the summary itself for programs. */
function sayEnd(
  { voice, found, output }: Pick<FollowOrder, 'voice' | 'found' | 'output'>,
  summary: Summary,
): void {
  voice.raw(closing(summary, found.folder, voice.paint));
  if (output === 'json') voice.json({ ...summary, folder: found.folder });
  else voice.data(found.folder);
}

export function closing(summary: Summary, folder: string, paint: Paint): string {
  const { outcomes, rows, cost_usd, seconds, rehearsal } = summary;
  const failed = notSucceeded(summary);
  const mark = failed === 0 ? paint('green', '✓') : paint('yellow', '!');
  const others = Object.entries(outcomes).filter(([name, times]) => name !== 'succeeded' && times > 0);
  const lines = [
    `${mark} ${count(outcomes.succeeded)} of ${count(rows)} rows succeeded in ${span(seconds * 1000)} · ${money(cost_usd)} estimated${rehearsal ? ' · rehearsal' : ''}`,
    ...others.map(([name, times]) => `  ${paint('red', `${count(times)} ${name}`)}`),
    ...(summary.ledger.unknown > 0
      ? [
          `  ${paint('yellow', `${plural(summary.ledger.unknown, 'request')} may have bought a run that nobody saw`)}`,
        ]
      : []),
    ...straysOf(summary, paint),
    `  results   ${folder}/results.csv`,
    ...(failed > 0 ? [`  failures  ${folder}/failures.csv`] : []),
    `  report    ${folder}/report.html`,
  ];
  return `\n${lines.join('\n')}\n`;
}

/** What was paid for and no row wanted. */
function straysOf({ strays, lists, ledger }: Summary, paint: Paint): readonly string[] {
  const seconds = strays.reduce((sum, { gpu_seconds }) => sum + gpu_seconds, 0);
  const told = plural(strays.length, 'run');
  return [
    ...(strays.length > 0
      ? [
          `  ${paint('yellow', `${told} that no row wanted: ${seconds.toFixed(1)} GPU s; summary.json names them`)}`,
        ]
      : []),
    ...(lists !== 'complete' && ledger.uncertain > 0
      ? [
          `  ${paint('yellow', 'the run lists could not be read at the end: a second run would not have been seen')}`,
        ]
      : []),
  ];
}
