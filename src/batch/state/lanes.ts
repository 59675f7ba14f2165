// A batch sends its rows in lanes, one for each GPU that rows name. A place is a position in the sending order: the lane's
// number times a hundred million, plus a number from 1. Pages translate places to rows (src/sheet/placed-rows.ts), so the state
// has a position for each lane instead of lists of rows, and a million rows take as much space as ten thousand.
//
//   lane 0  A10G   1 … 700                    places 1 … 700
//   lane 1  H100   1 … 300   501 … 512        places 100,000,001 … 100,000,300, and twelve rows that are sent again
//
// A lane without segments has sent all its places. With a ladder, rows that name no GPU are in a lane for each size class
// (ladder.ts). In a batch with one lane in the order of the sheet, places are row numbers.

import { NONE_HELD, type Held } from '../accounting/reserved-attempts.ts';
import type { RunCosts } from '../accounting/cost-histogram.ts';
import type { BatchParams, LaneSpec } from '../params.ts';
import type { AdaptiveCap } from '../useful-concurrency.ts';
import type { WaitingRow } from './row-state.ts';

export const LANE_PLACES = 100_000_000;
export const MAX_LANES = 64;

/** Consecutive places of a lane that were not sent yet. */
export type Segment = {
  readonly first: number;
  readonly count: number;
  /** Rows with an outcome that are sent again. */
  readonly isAgain?: true;
  /** Rows of the canary; see canary.ts. */
  readonly isCanary?: true;
};

/** Places that a pass adds to a lane. `gpu` names the GPU of a lane that does not exist yet. */
export type PassSegment = {
  readonly lane: number;
  readonly gpu?: string;
  readonly first: number;
  readonly count: number;
  /** Appended rows, which have no outcome yet. */
  readonly isNew?: true;
};

/** The accounts that a lane keeps on one GPU. A lane of a ladder has one for each rung; any other lane is its own. */
export type Account = {
  /** The GPU that its rows ask for; absent: the deployment's. */
  readonly gpu?: string;
  /** The rows in phase waiting, sorted by due time. */
  readonly waiting: WaitingRow[];
  /** How many of its rows hold a slot. */
  outstanding: number;
  /** Attempts whose run may have a cost that is not known yet, counted from the rows. */
  held: Held;
  /** With -c auto: what is known about its useful concurrency. */
  adaptive?: AdaptiveCap;
  /** Attempts and duplicate runs whose cost will never be known: a budget counts each in full. */
  unpriced: number;
  /** The costs of runs, if the batch reserves an estimate. */
  costs?: RunCosts | undefined;
  /** The cost that 99 of 100 runs did not exceed, in nano-dollars, once enough are known. */
  p99Nano?: number | undefined;
};

export type Lane = Account & {
  readonly segments: Segment[];
  /** Set if its rows climb a ladder. */
  readonly climb?: Climb;
};

/** See ladder.ts. */
export type Climb = {
  /** The size class of the rows; 0: their size is not known. */
  readonly size: number;
  /** The rung on which attempts start; it only rises. */
  rung: number;
  /** Whether a run has succeeded on this rung. */
  isProven: boolean;
  readonly rungs: readonly Account[];
};

const newAccount = (gpu: string | undefined): Account => ({
  ...(gpu === undefined ? {} : { gpu }),
  waiting: [],
  outstanding: 0,
  held: NONE_HELD,
  unpriced: 0,
});

export const newLane = (gpu: string | undefined, segments: readonly Segment[] = []): Lane => ({
  ...newAccount(gpu),
  segments: [...segments],
});

/** A lane whose rows climb the ladder, starting on the lowest rung. */
export const newClimbingLane = (
  size: number,
  ladder: readonly string[],
  segments: readonly Segment[] = [],
): Lane & { readonly climb: Climb } => ({
  ...newLane(undefined, segments),
  climb: { size, rung: 0, isProven: false, rungs: ladder.map(newAccount) },
});

export const lanesOf = ({ lanes, ladder = [] }: Pick<BatchParams, 'lanes' | 'ladder'>): Lane[] =>
  lanes.map(({ gpu, size, ...spec }) => {
    const segments = firstSegments(spec);
    return size === undefined ? newLane(gpu, segments) : newClimbingLane(size, ladder, segments);
  });

function firstSegments({ places, canary = 0 }: LaneSpec): readonly Segment[] {
  const canaryRows = { first: 1, count: canary, isCanary: true } as const;
  const afterCanary = { first: canary + 1, count: places - canary };
  return [canaryRows, afterCanary].filter(({ count }) => count > 0);
}

/** The accounts of a lane, by rung. */
export const accountsOf = (lane: Lane): readonly Account[] => lane.climb?.rungs ?? [lane];

/** The account of an attempt on this rung. */
export const accountOn = (lane: Lane, rung: number = 0): Account => lane.climb?.rungs[rung] ?? lane;

/** The account of the lane's next attempt. */
export const nextAccount = (lane: Lane): Account => accountOn(lane, lane.climb?.rung);

export const outstandingIn = (lane: Lane): number =>
  accountsOf(lane).reduce((sum, { outstanding }) => sum + outstanding, 0);

/** Adds the places of a pass. Rows that are appended right after the canary do not belong to it. */
export function addSegments(lanes: Lane[], segments: readonly PassSegment[]): void {
  addLanes(lanes, segments);
  for (const { lane, first, count, isNew } of segments) {
    const own = (lanes[lane] as Lane).segments;
    const last = own.at(-1);
    const isJoined = !last?.isCanary || last.isAgain;
    const isSame = last?.isAgain === (isNew ? undefined : true) && isJoined;
    // The files of a large pass follow each other: one segment is enough for all of them.
    if (last && isSame && last.first + last.count === first)
      own.splice(-1, 1, { ...last, count: last.count + count });
    else own.push({ first, count, ...(isNew ? {} : { isAgain: true }) });
  }
}

/** Adds only the lanes that do not exist yet: later passes count them. */
export function addLanes(lanes: Lane[], segments: readonly PassSegment[]): void {
  for (const { lane, gpu } of segments) lanes[lane] ??= newLane(gpu);
}

export const placeIn = (lane: number, number: number): number => lane * LANE_PLACES + number;
export const laneOf = (place: number): number => Math.floor(place / LANE_PLACES);
export const numberOf = (place: number): number => place % LANE_PLACES;

/** The lane of a row in the state. */
export const laneWith = ({ lanes }: { readonly lanes: readonly Lane[] }, place: number): Lane =>
  lanes[laneOf(place)] as Lane;

/** How many places of the lane were never sent. */
export const unsentIn = ({ segments }: Pick<Lane, 'segments'>): number =>
  segments.reduce((sum, { count }) => sum + count, 0);

/** The same, without the rows that have an outcome already. */
export const neverSentIn = ({ segments }: Pick<Lane, 'segments'>): number =>
  segments.reduce((sum, { count, isAgain }) => sum + (isAgain ? 0 : count), 0);

/** Takes the next place of the lane, which must have one. */
export function takePlace(lanes: readonly Lane[], at: number): number {
  const { segments } = lanes[at] as Lane;
  const [head] = segments as [Segment];
  if (head.count === 1) segments.shift();
  else segments[0] = { ...head, first: head.first + 1, count: head.count - 1 };
  return placeIn(at, head.first);
}
