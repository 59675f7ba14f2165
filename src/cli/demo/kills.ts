// Runs the same rows with a batch and with a loop. Both are killed at the same random moments and started again immediately.

import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type { BatchHandle } from '../../library/handle/batch-handle.ts';
import { numbersFrom } from '../../service/chance.ts';
import type { Summary } from '../../results/summary.ts';
import { DEPLOYMENT, type DemoServers, readBought, untilQuiet, type Bought } from './demo-servers.ts';

export type KillParams = {
  readonly rows: number;
  readonly concurrency: number;
  readonly seed: number;
  /** Kills at most; they end when the batch ends. */
  readonly kills: number;
  readonly stop: AbortSignal;
  readonly show: (race: Race) => void;
};

export type Side = Bought & { readonly done: number };
export type Race = {
  readonly rows: number;
  readonly kills: number;
  readonly runsheet: Side;
  readonly loop: Side;
};

const WORKERS = 2;
/** From the moment at which both workers are ready. */
const GAP_LEAST_MS = 1_500;
const GAP_SPREAD_MS = 3_000;
/** A worker that is not ready by then may be killed all the same. */
const READY_MOST_MS = 5_000;
/** On a slow machine there are fewer kills. */
const KILLING_MOST_MS = 50_000;
const POLL_MS = 250;

export async function race(
  servers: DemoServers,
  params: KillParams,
): Promise<{ readonly race: Race; readonly summary: Summary }> {
  const { rows, concurrency, stop, show } = params;
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  const seen = { kills: 0, batchDone: 0, loopDone: 0 };
  const poll = async (): Promise<Race> => {
    const [ours, theirs] = await Promise.all([
      readBought(servers.runLists.runsheet),
      readBought(servers.runLists.loop),
    ]);
    const { kills, batchDone, loopDone } = seen;
    return { rows, kills, runsheet: { ...ours, done: batchDone }, loop: { ...theirs, done: loopDone } };
  };
  try {
    const options = { deployment: DEPLOYMENT, concurrency, reuse: 'again' } as const;
    const batch = await servers.runsheet.start(sheetOf(rows), options);
    const loop = kept((ready) => {
      ready();
      seen.loopDone = 0;
      return servers.startLoop(() => (seen.loopDone += 1));
    });
    const workers = Array.from({ length: WORKERS }, () => kept((ready) => servers.startWorker(ready)));
    const looking = [every(async () => show(await poll()), signal), count(batch, seen, signal)];
    // They are awaited at the end; until then, a failure elsewhere must not end the process before it has cleaned up.
    for (const one of looking) one.catch(() => undefined);
    const finished = batch.result({ signal, onPaused: 'wait' });
    await killAtRandom({ workers, loop }, params, seen, AbortSignal.any([signal, ended(finished)]));
    const summary = await finished;
    await loop.ended(signal);
    await Promise.all([untilQuiet(servers.runLists.runsheet), untilQuiet(servers.runLists.loop)]);
    over.abort();
    await Promise.all(looking);
    seen.batchDone = summary.rows;
    const last = await poll();
    show(last);
    return { race: last, summary };
  } finally {
    over.abort();
  }
}

const sheetOf = (rows: number) =>
  Array.from({ length: rows }, (_, at) => ({ number: at + 1, prompt: `portrait ${at + 1}` }));

/** Aborted when the promise is settled. */
function ended(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  promise.then(abort, abort);
  return controller.signal;
}

async function every(act: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await act();
    await pause(POLL_MS, signal);
  }
}

async function count(batch: BatchHandle, seen: { batchDone: number }, signal: AbortSignal): Promise<void> {
  try {
    for await (const { progress } of batch.progress({ signal }))
      if (progress !== undefined) seen.batchDone = progress.done + progress.collecting;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const pause = (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }).catch(() => undefined);

type Kept = { again(): void; ready(): Promise<void>; ended(signal: AbortSignal): Promise<void> };

function kept(start: (ready: () => void) => ChildProcess): Kept {
  let ready = Promise.withResolvers<void>();
  let child = start(ready.resolve);
  return {
    again: () => {
      // What has done its work stays ended.
      if (child.exitCode === 0) return;
      child.kill('SIGKILL');
      ready = Promise.withResolvers<void>();
      child = start(ready.resolve);
    },
    ready: () => ready.promise,
    ended: async (signal) => {
      while (child.exitCode === null && !signal.aborted) await wait(POLL_MS);
    },
  };
}

async function killAtRandom(
  { workers, loop }: { readonly workers: readonly Kept[]; readonly loop: Kept },
  { seed, kills }: KillParams,
  seen: { kills: number },
  end: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([end, AbortSignal.timeout(KILLING_MOST_MS)]);
  for (const { gapMs, worker } of killsOf(seed, kills)) {
    await Promise.race([Promise.all(workers.map((one) => one.ready())), pause(READY_MOST_MS, signal)]);
    await pause(gapMs, signal);
    if (signal.aborted) return;
    seen.kills += 1;
    workers[worker]?.again();
    loop.again();
  }
}

/** The pause before each kill, and which worker it ends: the same for the same seed. */
export function killsOf(seed: number, kills: number): readonly { gapMs: number; worker: number }[] {
  const next = numbersFrom(seed);
  return Array.from({ length: kills }, () => ({
    gapMs: GAP_LEAST_MS + next() * GAP_SPREAD_MS,
    worker: Math.floor(next() * WORKERS),
  }));
}
