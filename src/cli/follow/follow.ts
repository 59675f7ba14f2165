// Follows a batch until it ends, pauses, exceeds --timeout, or the user presses Ctrl-C.

import { nextLine } from '../context.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, problem, errorMessage, isRunsheetError } from '../../errors/error.ts';
import { pauseHint } from '../../batch/pausing/pause-hints.ts';
import { BY_RESUME_ONLY } from '../../batch/pausing/pause-kinds.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { readLatestSummary } from '../../results/summary.ts';
import { printEnd, type EndParams } from './batch-end.ts';
import { refOf, type FoundBatch } from '../../library/handle/found-batch.ts';
import { canaryReport } from '../../results/estimate.ts';
import { canaryReportLines, isJudged } from '../run/forecast.ts';
import { configOf } from '../flags/batch-options.ts';
import { goingOnText } from './surviving-programs.ts';
import { hearInterrupts, type Interrupts } from './interrupt.ts';
import { toFollow, toContinue, nextCommand } from '../next-command.ts';
import { openProgressView, type ProgressView } from './progress-view.ts';
import { openPhaseReader } from './run-phases.ts';
import type { Session } from '../command-session.ts';
import { untilKept } from '../../library/handle/last-pause.ts';
import { rowsEnded, shownProgress, type WorkerTrouble } from '../../library/handle/batch-status.ts';
import { elsewhere, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';
import { NoticeWatch } from './notice-watch.ts';
import { RowStream } from './row-stream.ts';
import { countToSend } from '../../store/batch-file.ts';
import { withoutSuccess } from '../../batch/canary.ts';
import { ask } from '../run/answer-policy.ts';

export type FollowParams = EndParams & {
  readonly session: Session;
  readonly process: NodeJS.Process;
  readonly timeoutMs?: number;
  /** The command is read-only: the batch does not depend on it. */
  readonly reads?: boolean;
  readonly isCanaryShown?: boolean;
  readonly interrupts?: Interrupts;
  /** Runs alongside until the signal aborts; `note` prints a line. */
  readonly beside?: (note: (text: string) => void, done: AbortSignal) => Promise<void>;
};

const POLL_MS = { terminal: 250, elsewhere: 500 };

type FollowEnding = 'finished' | 'interrupted' | 'paused' | 'timeout' | 'lost';

/** Resolves with the exit code; the caller closes the session. Throws E501 if the batch is paused. */
export async function follow(params: FollowParams): Promise<number> {
  const { session, batchFolder, printer } = params;
  const interrupts = params.interrupts ?? hearInterrupts(params.process);
  const view = openProgressView(printer, params.process.stderr);
  const done = new AbortController();
  const rows = printer.output === 'jsonl' ? new RowStream(batchFolder, params.process.stdout) : undefined;
  const latest: Latest = { progress: undefined, isCanaryShown: params.isCanaryShown ?? false };
  const notices = new NoticeWatch(batchFolder, (text) =>
    view.note(printer.paint('yellow', terminalLine(text))),
  );
  const beside = params.beside?.((text) => view.note(text), done.signal);
  try {
    const ending = await Promise.race([
      failureOf(beside),
      poll({ ...params, rows, notices }, view, done.signal, latest),
      session.batches.finished(refOf(batchFolder), done.signal).then(() => 'finished' as const),
      interrupts.first,
      lostBy(session),
    ]);
    if (ending === 'finished') {
      await showLast(params, view);
      await notices.lookNow();
    }
    view.end();
    done.abort();
    await beside;
    await rows?.print(false);
    return await END[ending]({ ...params, ...latest, rows, interrupts });
  } finally {
    done.abort();
    await beside?.catch(() => undefined);
    if (params.interrupts === undefined) interrupts[Symbol.dispose]();
  }
}

/** Shows the last progress, so that the view ends with all rows. */
async function showLast({ session, batchFolder }: FollowParams, view: ProgressView): Promise<void> {
  // On an error, the view keeps its last progress.
  const { progress } = await session.batches
    .status(refOf(batchFolder))
    .catch(() => ({ progress: undefined }));
  if (progress?.state === 'finished')
    view.show(await shownProgress(batchFolder, progress), performance.now());
}

/** Never resolves; rejects when `beside` fails. */
async function failureOf(beside: Promise<void> | undefined): Promise<never> {
  await beside;
  return new Promise(() => undefined);
}

type Latest = { progress: Progress | undefined; isCanaryShown: boolean };
type Streaming = { readonly rows: RowStream | undefined };
type Polling = Streaming & { readonly notices: NoticeWatch };
type FollowEnd = FollowParams & Readonly<Latest> & Streaming & { readonly interrupts: Interrupts };

const END: Readonly<Record<FollowEnding, (ended: FollowEnd) => Promise<number>>> = {
  finished: async (ended) => {
    const { batchFolder, printer, rows } = ended;
    await rows?.print(true);
    const summary = await readLatestSummary(batchFolder.store);
    if (summary === undefined)
      throw problem('E506', { batch: batchFolder.batch, reason: 'its folder has no summary.json' });
    const canary = await canaryReport(batchFolder);
    if (canary !== undefined && !ended.isCanaryShown)
      printer.raw(`${canaryReportLines(canary).join('\n')}\n`);
    const code = await printEnd(canary === undefined ? ended : { ...ended, canary }, summary);
    if ((await summaryOfDone(batchFolder)) === undefined) {
      printer.notice('some of its rows are being sent again');
      printer.next(toFollow(batchFolder));
    }
    return code;
  },
  paused: async ({ session, batchFolder, progress: latest, reads }) => {
    const progress = latest && (await shownProgress(batchFolder, latest));
    const isLeaving = session.stack !== undefined && !reads;
    if (isLeaving && latest !== undefined)
      await untilKept(
        batchFolder,
        latest.pauses.map(({ kind }) => kind),
      );
    throw problem('E501', {
      batch: batchFolder.batch,
      reason: progress?.reason ?? '',
      hint: pauseHint(batchFolder.batch, progress?.pauses[0], isLeaving, progress?.budget?.neededNano),
    });
  },
  timeout: async ({ printer, batchFolder }) => {
    printer.notice(
      `${batchFolder.batch} has not ended within --timeout; it continues\n${nextLine(toFollow(batchFolder))}`,
    );
    return EXIT.waitedTooLong;
  },
  lost: async (ended) => {
    const { batchFolder, session } = ended;
    if ((await summaryOfDone(batchFolder)) === undefined)
      throw (await elsewhere(batchFolder, session.here)) ?? problem('E516', { batch: batchFolder.batch });
    return END.finished(ended);
  },
  interrupted: async (ended) => {
    if (ended.reads) leaveRunning(ended);
    else if (ended.session.stack) await stopAll(ended);
    else detach(ended);
    return EXIT.interrupted;
  },
};

/** Says that the embedded servers, which this command only read from, have ended. */
const lostBy = async ({ stack }: Session): Promise<'lost'> => {
  await (stack?.lost ?? new Promise(() => undefined));
  return 'lost';
};

async function poll(
  { session, batchFolder, printer, timeoutMs, reads, rows, notices }: FollowParams & Polling,
  view: ProgressView,
  done: AbortSignal,
  latest: Latest,
): Promise<FollowEnding> {
  const startedAt = performance.now();
  const reported = new Set<string>();
  const phases = openPhaseReader(configOf({}), batchFolder);
  const pause = new EndingPause({
    endsServers: session.stack !== undefined && reads !== true,
    listGapMs: batchFolder.file.service.timing.listGapMs,
  });
  const standstill = new Standstill((text) => view.note(printer.paint('yellow', text)), startedAt);
  while (!done.aborted) {
    if (!reads) assertDiskSpace(session);
    try {
      const { progress, isUnattended, trouble } = await session.batches.status(refOf(batchFolder));
      latest.progress = progress;
      if (isUnattended) standstill.goesOn(withoutWorker(session), performance.now());
      else if (trouble !== undefined) standstill.goesOn(troubleText(trouble), performance.now());
      else standstill.over(performance.now());
      if (progress !== undefined) {
        const now = performance.now();
        view.show(
          await shownProgress(batchFolder, progress),
          now,
          phases.latest(progress.sending + progress.running + progress.unconfirmed, now),
        );
      }
      if (progress !== undefined) {
        await reportCanary(batchFolder, progress, view, latest);
        await notices.look(progress, performance.now());
      }
      if (progress === undefined) reportTrouble(trouble, view, reported);
      if (progress !== undefined && pause.ends(progress, performance.now())) return 'paused';
      // The workflow's old address may still serve `finished`.
      if (progress?.state === 'finished') return 'finished';
    } catch (error) {
      if ((await summaryOfDone(batchFolder).catch(() => undefined)) !== undefined) return 'finished';
      // Aborted: the servers end with the command.
      if (done.aborted) break;
      const [reason = ''] = errorMessage(error).split('\n');
      standstill.goesOn(terminalLine(reason), performance.now());
    }
    await rows?.print(false);
    if (timeoutMs !== undefined && performance.now() - startedAt > timeoutMs) return 'timeout';
    await wait(printer.isTerminal ? POLL_MS.terminal : POLL_MS.elsewhere);
  }
  return 'interrupted';
}

/** The embedded servers restart their worker. */
const withoutWorker = ({ stack }: Session): string =>
  `${NO_WORKER}${stack === undefined ? '; start one: runsheet worker' : ''}`;

/** Ends servers that cannot write; requests in flight stay unconfirmed and are resolved later. */
function assertDiskSpace({ stack }: Session): void {
  try {
    stack?.assertDiskSpace();
  } catch (error) {
    stack?.hurry();
    throw error;
  }
}

async function reportCanary(batchFolder: FoundBatch, progress: Progress, view: ProgressView, latest: Latest) {
  if (latest.isCanaryShown || !isJudged(progress)) return;
  latest.isCanaryShown = true;
  const report = await canaryReport(batchFolder);
  for (const line of report === undefined ? [] : canaryReportLines(report)) view.note(line);
}

/** Reports the worker's first failure before the batch begins. */
function reportTrouble(trouble: WorkerTrouble | undefined, view: ProgressView, reported: Set<string>): void {
  if (trouble === undefined || reported.has(trouble.reason)) return;
  reported.add(trouble.reason);
  view.note(`the batch has not started: ${terminalLine(trouble.reason)}; its worker retries`);
}

/** R23: the embedded servers end with this command, unless other commands use them. */
async function stopAll({ session, printer, batchFolder, interrupts, progress }: FollowEnd): Promise<void> {
  printer.notice(`\nstopping; ${doneText(progress)}, nothing is lost`);
  interrupts.onSecond(() => session.stack?.hurry());
  const goingOn = await goingOnText(batchFolder);
  let reported = -1;
  await session.close((onWire) => {
    if (onWire !== reported && onWire > 0) {
      printer.notice(
        `${plural(onWire, 'request')} on the wire; waiting for the answers (Ctrl-C again leaves them unconfirmed)`,
      );
    }
    reported = onWire;
  });
  printer.notice('stopped');
  if (goingOn !== undefined) printer.notice(goingOn);
  printer.notice(nextLine(toContinue(batchFolder)));
}

const leaveRunning = ({ printer, batchFolder, progress }: FollowEnd): void =>
  printer.notice(
    `\nno longer following ${batchFolder.batch}: ${doneText(progress)}\n${nextLine(toFollow(batchFolder))}`,
  );

function detach({ printer, batchFolder, progress }: FollowEnd): void {
  const { batch } = batchFolder;
  if (progress === undefined) {
    printer.notice(`\ndetached; ${batch} has not started: ${NO_WORKER}`);
    printer.notice(nextLine(['start', 'runsheet worker']));
  } else printer.notice(`\ndetached; ${batch} continues: ${doneText(progress)}`);
  printer.notice(
    `${nextLine(toFollow(batchFolder))}\n${nextLine(['stop', nextCommand('cancel', batchFolder)])}`,
  );
}

/** Counts rows as the view does. */
function doneText(progress: Progress | undefined): string {
  if (progress === undefined) return 'not started';
  const { rows, collecting } = progress;
  const storing = collecting > 0 ? ` (the files of ${count(collecting)} are still to be stored)` : '';
  return `${count(rowsEnded(progress))} of ${count(rows)} rows done${storing}`;
}

const ANSWERS = { y: true, yes: true, n: false, no: false } as const;

/** Follows a batch. On a terminal, asks whether to send the remaining rows after a successful canary. */
export async function followAsking(params: FollowParams): Promise<number> {
  const { session, batchFolder, printer, process } = params;
  try {
    return await follow(params);
  } catch (error) {
    const isToAsk =
      isRunsheetError(error, 'E501') &&
      printer.output === 'text' &&
      printer.isTerminal &&
      process.stdin.isTTY &&
      (await isOnlyAsking(params));
    if (!isToAsk) throw error;
    const left = countToSend(batchFolder.file.sheet) - (batchFolder.file.canary?.rows ?? 0);
    const question = `Send the other ${plural(left, 'row')}? [y/n] `;
    if ((await ask(process, question, ANSWERS)) === true) {
      await session.batches.resume(refOf(batchFolder));
      return followAsking({ ...params, isCanaryShown: true });
    }
    printer.notice(`${batchFolder.batch} stays paused; nothing more is sent`);
    printer.next(toContinue(batchFolder), ['stop', nextCommand('cancel', batchFolder)]);
    return EXIT.paused;
  }
}

async function isOnlyAsking({ session, batchFolder }: FollowParams): Promise<boolean> {
  const { progress } = await session.batches.status(refOf(batchFolder));
  if (progress === undefined || withoutSuccess(progress) > 0) return false;
  return progress.pauses.length > 0 && progress.pauses.every(({ kind }) => kind === 'canary');
}

/** Longer than a worker needs to start on a busy machine and to read the run lists. */
const READING_MS = 30_000;
/** Two lists read one gap apart prove that an attempt started no run; the current gap may have just begun. */
const GAPS = 3;

type Followed = Pick<Progress, 'state' | 'pauses' | 'sending' | 'running' | 'collecting'>;

/** `endsServers`: the servers that run the batch end with this command. `listGapMs`: the time between two readings of the run lists. */
export class EndingPause {
  readonly #patienceMs: number;
  #unresolvedSince: number | undefined;

  constructor({ endsServers, listGapMs }: { endsServers: boolean; listGapMs: number }) {
    this.#patienceMs = endsServers ? GAPS * listGapMs + READING_MS : 0;
  }

  /** Whether the batch is paused, and the command has nothing to wait for. */
  ends({ state, pauses, sending, running, collecting }: Followed, now: number): boolean {
    const isUnresolved = state === 'paused' && pauses.every(({ kind }) => kind === 'unconfirmed');
    this.#unresolvedSince = isUnresolved ? (this.#unresolvedSince ?? now) : undefined;
    if (state !== 'paused') return false;
    // No worker read the lists meanwhile. The first worker that runs again may resolve the attempts if this pause lasts.
    if (this.#unresolvedSince !== undefined) return now - this.#unresolvedSince >= this.#patienceMs;
    // A batch that a user paused still collects its running runs.
    return !(pauses.every(({ kind }) => BY_RESUME_ONLY.has(kind)) && sending + running + collecting > 0);
  }
}

/** How long a worker or Temporal may be silent before the user is told. */
const SILENT_MS = 15_000;

export class Standstill {
  readonly #note: (text: string) => void;
  #attendedAt: number;
  #noted: string | undefined;

  constructor(note: (text: string) => void, now: number) {
    this.#note = note;
    this.#attendedAt = now;
  }

  /** Called when a worker takes tasks again. */
  over(now: number): void {
    this.#attendedAt = now;
    if (this.#noted !== undefined) this.#note('the batch advances again');
    this.#noted = undefined;
  }

  goesOn(reason: string, now: number): void {
    if (now - this.#attendedAt < SILENT_MS || reason === this.#noted) return;
    this.#noted = reason;
    this.#note(`the batch does not advance: ${reason}`);
  }
}

/** `4711@gpu-box fails its tasks: this worker may not use …`. */
export const troubleText = ({ worker = 'a worker', reason }: WorkerTrouble): string =>
  `${worker} fails its tasks: ${reason}`;

export const NO_WORKER = "no worker takes this batch's tasks";
