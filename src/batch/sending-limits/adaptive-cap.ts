// Finds how many outstanding runs of a GPU are useful, if the user asked for it (-c auto). A round lasts until as
// many runs as the cap have ended that were accepted after the cap last changed; earlier runs queued under another
// cap.
//
//   no queueing yet   each round doubles the cap
//   queueing          the cap falls by a tenth, or to what ran at the same time if that is less; from then on a round without
//                     queueing adds 1, the next one 2, then 4
//   429               half the cap, once per round; then it doubles up to the runs that the service held, and waits there
//
// A little queueing changes nothing: it keeps every machine busy. A cap that other limits keep the batch from using never grows.
// Services that do not show queueing times: the cap never exceeds its start.

import { type RunTimes, note } from '../events.ts';
import { type Account, accountsOf, type Lane } from '../state/lanes.ts';
import { type State } from '../state/state.ts';
import type { AdaptiveCap, UsefulConcurrency } from '../useful-concurrency.ts';

/**
 * Queueing time as a share of the time on the machine: above the first the cap falls, below the second it grows. Between them
 * every machine has its next run waiting.
 */
const MAX_QUEUE = 0.2;
const MIN_QUEUE = 0.05;
const QUEUE_TARGET = 0.1;

/** A run that queued for more than this many times its time on the machine counts as this many. */
const QUEUE_BELIEVED = 4;

/** How many ends a round has at least after the first queueing. */
const ROUND_ENDS = 8;

/** A run whose machine took longer to start than this share of the run waited for a new machine. */
const COLD_BOOT_SHARE = 0.05;

/** How many ends of a round are kept: their share of a snapshot stays below a kilobyte for each lane. */
const CAP_SAMPLES = 31;

/** For how many rounds the cap stays at the runs that the service held at a 429: the next run may be turned away again. */
const HELD_ROUNDS = 8;

type EndedRun = { readonly since: number; readonly times?: RunTimes | undefined };

/** How many runs of the lane may be outstanding; infinite without -c auto. */
export const capOf = ({ params }: Pick<State, 'params'>, { adaptive }: Pick<Lane, 'adaptive'>): number =>
  params.adaptive === undefined ? Number.POSITIVE_INFINITY : (adaptive?.cap ?? params.adaptive);

/** The number that is worth passing as -c: after a 429, the cap is lower for a while. */
const foundCap = ({ cap, knee = 0 }: AdaptiveCap): number => Math.max(cap, knee);

/** How many slots the batch uses at most: all lanes together, and the total. */
export const slotsAllowed = (state: Pick<State, 'params' | 'lanes'>): number =>
  Math.min(
    state.params.concurrency,
    state.lanes.reduce((sum, lane) => sum + capOf(state, lane), 0),
  );

export const usefulConcurrency = (state: State): readonly UsefulConcurrency[] =>
  state.lanes.map((lane) => ({
    ...(lane.gpu === undefined ? {} : { gpu: lane.gpu }),
    ...usefulIn(state, lane),
  }));

function usefulIn(state: State, lane: Lane): Pick<UsefulConcurrency, 'concurrency' | 'basis'> {
  const { adaptive: own } = lane;
  if (own === undefined) return { concurrency: capOf(state, lane), basis: 'searching' };
  const basis = own.knee !== undefined ? 'found' : own.isTimed === false ? 'untimed' : 'searching';
  return { concurrency: Math.min(foundCap(own), most(state, lane, own)), basis };
}

const newCap = (start: number): AdaptiveCap => ({
  cap: start,
  quiet: 0,
  since: 0,
  ends: 0,
  peak: 0,
  samples: [],
  cold: 0,
});

/** Notes the end of a run that still holds its slot. */
export function noteRunEnd(state: State, lane: Lane, { since, times }: EndedRun): void {
  const { adaptive: start } = state.params;
  if (start === undefined) return;
  const own = (lane.adaptive ??= newCap(start));
  if (since <= own.since) return;
  delete own.isHalved;
  own.peak = Math.max(own.peak, lane.outstanding);
  if (times === undefined) {
    // The service shows the times of other runs, so this run never had a machine.
    if (own.isTimed) return;
    own.isTimed = false;
  } else {
    own.isTimed = true;
    const sample = sampleOf(own, times);
    if (sample === undefined) return;
    if (own.ends % Math.ceil(endsIn(own) / CAP_SAMPLES) === 0) own.samples.push(sample);
  }
  own.ends += 1;
  if (own.ends >= endsIn(own)) endRound(state, lane, own);
}

/** How many ends complete a round. Once the knee is known, a round of two or three ends would be chance. */
const endsIn = ({ cap, knee }: AdaptiveCap): number => (knee === undefined ? cap : Math.max(cap, ROUND_ENDS));

/**
 * undefined for a run that waited for a new machine to boot: it shows that machines were missing, not that there are
 * no more. If nearly every run is such a run, the queueing time counts as far as it exceeds the shortest one.
 */
function sampleOf(
  own: AdaptiveCap,
  [queueMs, bootMs, runMs]: RunTimes,
): AdaptiveCap['samples'][number] | undefined {
  const machineMs = bootMs + runMs;
  if (bootMs <= COLD_BOOT_SHARE * runMs) return [queueMs, machineMs];
  own.cold += 1;
  own.coldQueueMs = Math.min(own.coldQueueMs ?? queueMs, queueMs);
  return own.cold > 2 * own.cap ? [queueMs - own.coldQueueMs, machineMs] : undefined;
}

function endRound(state: State, lane: Lane, own: AdaptiveCap): void {
  const queueing = queueingIn(own);
  const before = own.cap;
  const highest = most(state, lane, own);
  own.cap = Math.min(own.cap, highest);
  if (queueing > MAX_QUEUE) {
    const running = own.cap / (1 + queueing);
    own.cap = Math.max(1, Math.min(Math.floor(own.cap * 0.9), Math.round(running * (1 + QUEUE_TARGET))));
    own.knee = own.cap;
    own.quiet = 0;
  } else if (queueing >= MIN_QUEUE) own.quiet = Math.min(own.quiet, 0);
  else if (own.peak >= own.cap) own.cap = Math.min(grown(own), highest);
  beginRound(own, own.cap === before ? own.since : state.now);
  if (queueing > MAX_QUEUE) logFound(state, lane, own);
}

/** Halves the cap after a 429 for a group that was issued at `at`: at most once until a run accepted since then has ended. */
export function noteThrottled(state: State, lane: Lane, at: number): void {
  const { adaptive: start } = state.params;
  if (start === undefined) return;
  const own = (lane.adaptive ??= newCap(start));
  if (at < own.since) return;
  // Runs that the service turned away no longer hold slots.
  own.knee = Math.max(1, Math.min(foundCap(own), lane.outstanding));
  own.quiet = -HELD_ROUNDS;
  if (own.isHalved) return;
  own.isHalved = true;
  own.cap = Math.max(1, Math.floor(own.cap / 2));
  beginRound(own, state.now);
  logFound(state, lane, own);
}

/**
 * The time that a run queues, as a share of its time on the machine. A mean, because runs that start together end
 * together: a few of them queue for long, and most do not. A single run that waited very long says little.
 */
function queueingIn({ samples }: AdaptiveCap): number {
  const machineMs = mean(samples.map(([, ms]) => ms));
  const longest = QUEUE_BELIEVED * machineMs;
  return mean(samples.map(([ms]) => Math.min(ms, longest))) / Math.max(1, machineMs);
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);

function grown(own: AdaptiveCap): number {
  const { cap, knee } = own;
  if (knee === undefined || cap < knee) return Math.min(2 * cap, knee ?? Number.POSITIVE_INFINITY);
  own.quiet += 1;
  return own.quiet > 0 ? cap + Math.min(cap, 2 ** (own.quiet - 1)) : cap;
}

function most({ params }: State, { gpu = '' }: Lane, { isTimed }: AdaptiveCap): number {
  const { concurrency, gpuConcurrency, adaptive = concurrency } = params;
  return Math.min(concurrency, gpuConcurrency?.[gpu] ?? concurrency, isTimed ? concurrency : adaptive);
}

function beginRound(own: AdaptiveCap, since: number): void {
  own.since = since;
  own.ends = 0;
  own.peak = 0;
  own.cold = 0;
  own.samples = [];
}

/** The log gets the first number that is found, and then only large changes. */
function logFound(state: State, { gpu = 'the default GPU' }: Lane, own: AdaptiveCap): void {
  const useful = foundCap(own);
  const { logged } = own;
  const changed = logged === undefined ? Number.POSITIVE_INFINITY : Math.abs(useful - logged);
  if (changed < MIN_CHANGE || changed < Math.min(useful, logged ?? 0) * CHANGE_SHARE) return;
  own.logged = useful;
  const was = logged === undefined ? '' : `, before ${logged}`;
  note(state, { event: 'adapted', note: `useful concurrency on ${gpu}: ${useful}${was}` });
}

const MIN_CHANGE = 4;
const CHANGE_SHARE = 0.5;

/**
 * Limits how many rows of one GPU are outstanding, if the user set such a limit or wants it to be found. The limit
 * counts the rows of all lanes on this GPU and never holds back rows on other GPUs.
 */
type Accounts = Pick<State, 'params' | 'lanes'>;

/** Whether more rows of a GPU are outstanding than a limit that was lowered allows. */
export const isAboveGpuCap = (state: Accounts): boolean =>
  Object.entries(state.params.gpuConcurrency ?? {}).some(([gpu, cap]) => outstandingOn(state, gpu) > cap);

export const outstandingOn = ({ lanes }: Pick<State, 'lanes'>, gpu: string): number =>
  lanes
    .flatMap(accountsOf)
    .reduce((sum, account) => sum + (account.gpu === gpu ? account.outstanding : 0), 0);

/** How many more rows may be sent on the GPU; infinite without a limit. */
export function freeOn(state: Accounts, account: Pick<Account, 'gpu' | 'outstanding' | 'adaptive'>): number {
  const { gpu = '' } = account;
  const cap = state.params.gpuConcurrency?.[gpu];
  const free = cap === undefined ? Number.POSITIVE_INFINITY : cap - outstandingOn(state, gpu);
  return Math.max(0, Math.min(free, capOf(state, account) - account.outstanding));
}
