// Limits how many rows of one GPU are outstanding, if the user set such a limit or wants it to be found. It belongs to a lane: a full lane never holds
// back the rows of another.

import { capOf } from './adaptive-cap.ts';
import type { Lane } from '../lanes.ts';
import type { State } from '../state.ts';

/** Whether more rows of a GPU are outstanding than a limit that was lowered allows. */
export const isAboveGpuCap = ({ params, lanes }: Pick<State, 'params' | 'lanes'>): boolean =>
  lanes.some(({ gpu = '', outstanding }) => outstanding > (params.gpuConcurrency?.[gpu] ?? NO_CAP));

const NO_CAP = Number.POSITIVE_INFINITY;

/** How many rows of the lane may still be sent; infinite without a limit. */
export const freeIn = (state: Pick<State, 'params'>, lane: Lane): number =>
  Math.max(
    0,
    Math.min(state.params.gpuConcurrency?.[lane.gpu ?? ''] ?? NO_CAP, capOf(state, lane)) - lane.outstanding,
  );
