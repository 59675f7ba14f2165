// Freedoms of a world besides faults that end: other stacks, rebuilds, earlier versions, faults that never end, lists
// that forget, and users who follow the printed hints.

import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import { OLDEST, READS } from '../../src/batch/behaviour-version.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import type { WorldPlan } from './plan.ts';

export const FOREVER_KINDS = [
  /** Each POST gets a server error, or a web page, and starts no run. */
  'errors',
  'pages',
  /** Each POST gets a server error, and starts a run. */
  'errors with runs',
  /** Each run fails for the same reason. */
  'failing runs',
  'lists away',
  'reads away',
  'files away',
  'bad files',
] as const;

/**
 * The marks by which a world shows that it used a freedom. Each must occur in thousands of worlds, and one of each
 * freedom in a hundred.
 */
export const FREEDOMS_SEEN: Readonly<Record<string, readonly string[]>> = {
  'a second stack on the same folder': [
    'a second stack on the same folder',
    'a stack switched off',
    'a stack that comes back',
    'a group refused because another execution has the batch',
    'a change refused because another execution has the batch',
    'ended because another execution has the batch',
  ],
  'a version before': [
    'a batch of an earlier version',
    'a batch raised to a newer version',
    'a task that an older worker does not understand',
  ],
  'a rebuild': [
    'a rebuild in its own stack',
    'a rebuild in another stack',
    'a rebuild beside a living batch',
    'a batch rebuilt',
    'a rebuild that was killed',
    'a rebuild that was forgotten',
    'a rebuild that was given up',
    'a batch taken back from a rebuild',
  ],
  'a fault that never ends': FOREVER_KINDS.map((kind) => `forever: ${kind}`),
  'lists that shrink': ['a run that the lists have forgotten'],
  'a user who does what is printed': PAUSE_KINDS.map((kind) => `obeyed: ${kind}`),
};

export type Freedoms = {
  /** How many Temporals know the folder; all others belong to the first. */
  readonly stacks?: number;
  /** Whether all stacks are on one machine. */
  readonly isOneMachine?: boolean;
  /** When the machine of the first stack is switched off, and for how long. */
  readonly off?: { readonly atMs: number; readonly forMs: number };
  /** When users rebuild the batch, and in which stack. */
  readonly rebuilds?: readonly { readonly stack: number; readonly atMs: number }[];
  /** The version in which the batch starts, and how many workers understand only the version before the newest. */
  readonly version?: number;
  readonly olderWorkers?: number;
  /** A fault that stays until somebody repairs it. */
  readonly forever?: {
    readonly kind: (typeof FOREVER_KINDS)[number];
    readonly fromMs: number;
    readonly untilMs: number;
  };
  /** How long the service keeps a run after its end. */
  readonly retentionMs?: number;
  /** Whether the user does what is printed. */
  readonly obeys?: true;
};

const HOUR_MS = 3_600_000;

/** Drawn apart, so that the other parts of a world do not depend on it. */
export function freedomsOf(plan: WorldPlan, isLarge: boolean): Freedoms {
  const draw = numbersFrom(plan.seed + 0x51d5);
  for (let skip = 0; skip < 8; skip += 1) draw();
  const between = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1));
  const versions = versionsOf(draw, between, plan);
  const rebuilds = rebuildsOf(draw, between, plan, isLarge);
  const forever = foreverOf(draw, between, isLarge);
  const retention = retentionOf(draw, between, plan, rebuilds);
  const obeys = draw() < 0.3 || forever.forever !== undefined ? { obeys: true as const } : {};
  return { ...versions, ...rebuilds, ...forever, ...retention, ...obeys };
}

type Draw = () => number;
type Between = (least: number, most: number) => number;

function versionsOf(draw: Draw, between: Between, { workers, ladder, maxCostNano }: WorldPlan): Freedoms {
  // Before version 8, a ladder and a budget may hold a batch until its user allows more.
  const oldest = ladder === undefined || maxCostNano === undefined ? OLDEST : 8;
  const version = draw() < 0.4 ? { version: between(oldest, READS) } : {};
  const olderWorkers = draw() < 0.2 && workers > 1 ? { olderWorkers: between(1, workers - 1) } : {};
  return { ...version, ...olderWorkers };
}

/** A rebuild needs run lists; it keeps no limit of the cost, and a pool belongs to one Temporal. */
function rebuildsOf(draw: Draw, between: Between, plan: WorldPlan, isLarge: boolean): Freedoms {
  const { lists, maxCostNano, pool } = plan;
  if (draw() < 0.7 || !lists || maxCostNano !== undefined || pool !== undefined || isLarge) return {};
  const stacks = draw() < 0.7 ? 2 : 1;
  const rebuilds = Array.from({ length: between(1, 2) }, () => ({
    stack: draw() < 0.7 ? stacks - 1 : 0,
    atMs: between(1_000, 90_000),
  }));
  const off =
    stacks > 1 && draw() < 0.5
      ? { off: { atMs: between(1_000, 60_000), forMs: between(1_000, draw() < 0.5 ? 60_000 : 2 * HOUR_MS) } }
      : {};
  return { stacks, isOneMachine: draw() < 0.5, rebuilds, ...off };
}

function foreverOf(draw: Draw, between: Between, isLarge: boolean): Freedoms {
  if (draw() < 0.85 || isLarge) return {};
  const kind = FOREVER_KINDS[between(0, FOREVER_KINDS.length - 1)] ?? 'errors';
  const fromMs = draw() < 0.4 ? 0 : between(1_000, 60_000);
  return { forever: { kind, fromMs, untilMs: fromMs + between(HOUR_MS / 6, HOUR_MS / 2) } };
}

/** Longer than the proof that a run is absent takes; where a batch is rebuilt, also so short that the rebuild misses runs. */
function retentionOf(draw: Draw, between: Between, { patient }: WorldPlan, { rebuilds }: Freedoms): Freedoms {
  if (draw() < 0.7) return {};
  if (rebuilds !== undefined && draw() < 0.7) return { retentionMs: between(15_000, HOUR_MS / 20) };
  return { retentionMs: patient ? between(1.5 * HOUR_MS, 3 * HOUR_MS) : between(HOUR_MS / 20, HOUR_MS / 2) };
}
