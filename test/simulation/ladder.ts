// Worlds whose rows climb a ladder of GPUs: which rows are in which size class, and which rung each of them needs.

import { laneOf, numberOf } from '../../src/batch/state/lanes.ts';
import type { LaneSpec } from '../../src/batch/params.ts';
import type { State } from '../../src/batch/state/state.ts';
import type { Budget } from './budget.ts';
import type { SimRun } from './service.ts';
import type { World } from './world.ts';

export type Ladder = {
  readonly ladder: readonly string[];
  readonly lanes: readonly LaneSpec[];
  /** The rung that the rows of each lane need; a class may also need more than the highest one. */
  readonly needs: readonly number[];
  readonly gpuConcurrency?: Readonly<Record<string, number>>;
  readonly attemptCostNano?: Readonly<Record<string, number>>;
};

const RUNGS = ['T4', 'A10G', 'L40S', 'H100'];
const MAX_CLASSES = 4;

/** A third of the worlds; the last draw of a plan, so that the other parts of a world do not depend on it. */
export function ladderOf(
  draw: () => number,
  {
    rows,
    concurrency,
    attemptCostNano,
  }: { readonly rows: number; readonly concurrency: number } & Partial<Budget>,
): Partial<Ladder> {
  if (draw() < 0.65) return {};
  const between = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1));
  const ladder = RUNGS.slice(0, between(2, RUNGS.length));
  const count = between(1, MAX_CLASSES);
  const places = Math.floor(rows / (count + 1));
  // The last lane is of a GPU that is a rung as well.
  const lanes = [
    ...Array.from({ length: count }, (_, at) => ({ size: at, places })),
    { gpu: 'A10G', places: rows - count * places },
  ];
  const needs = lanes.map(() => between(0, ladder.length));
  const caps = draw() < 0.5 ? {} : { gpuConcurrency: { A10G: between(1, concurrency) } };
  const nano = attemptCostNano?.['A10G'];
  const costs =
    nano === undefined
      ? {}
      : { attemptCostNano: { ...attemptCostNano, T4: Math.round(nano / 2), L40S: 2 * nano, H100: 3 * nano } };
  return { ladder, lanes, needs, ...caps, ...costs };
}

/** Whether the GPU of the run has too little memory for its row. One row of seven needs less than the others of its class. */
export function needsMore({ plan }: World, { place, gpu }: Pick<SimRun, 'place' | 'gpu'>): boolean {
  if (gpu === undefined || plan.ladder === undefined) return false;
  const needed = numberOf(place) % 7 === 0 ? 0 : (plan.needs?.[laneOf(place)] ?? 0);
  return plan.ladder.indexOf(gpu) < needed;
}

export const gpuOf = ({ lanes }: State, { place, gpu }: Pick<SimRun, 'place' | 'gpu'>): string =>
  gpu ?? lanes[laneOf(place)]?.gpu ?? '';
