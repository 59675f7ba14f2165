// The lanes of a ladder, for rows that are sent again: such a row climbs on where its size class is, unless it was sent on a GPU
// that a user chose.

import type { LaneSpec } from '../batch/params.ts';
import type { BatchRow } from '../results/batch-rows.ts';
import { sizeOf } from '../sheet/size-classes.ts';
import { changedInputs, type InputChange } from '../sheet/placed-rows.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { laneOf } from '../batch/state/lanes.ts';
import { placeOf } from '../results/row-record.ts';

/** No GPU has such a name. */
const LADDER_LANE = 'size ';

/** A name for each lane: its GPU, or its size class; '' for the GPU of the deployment, if it is not known. */
export const laneNameOf = ({ gpu = '', size }: Pick<LaneSpec, 'gpu' | 'size'>): string =>
  size === undefined ? gpu : `${LADDER_LANE}${size}`;

export const isLadderLane = (name: string): boolean => name.startsWith(LADDER_LANE);

/** The name of the lane in which a row climbs, with another size if `change` gives it one; undefined if it is on no ladder. */
export function ladderLaneOf(
  { sheet }: BatchFile,
  { row, record }: BatchRow,
  change?: InputChange,
): string | undefined {
  const { ladder } = sheet.options;
  if (ladder === undefined || row.gpu !== undefined) return undefined;
  const isResized = sheet.sizedBy?.some((input) => isChanged(change, input)) ?? false;
  if (record !== undefined && record.reused_from === undefined && !isResized) {
    const lane = sheet.lanes[laneOf(placeOf(record))];
    return lane?.size === undefined ? undefined : laneNameOf(lane);
  }
  const inputs = changedInputs(changedInputs(row.inputs, record?.change), change);
  const lane = laneFor(sheet, sizeOf(inputs, sheet.sizedBy ?? []));
  // Without any lane of the ladder nothing was learnt, and the highest rung is the one that works.
  return lane === undefined ? ladder.at(-1) : laneNameOf(lane);
}

const isChanged = (change: InputChange | undefined, input: string): boolean =>
  change !== undefined && (Object.hasOwn(change.set, input) || (change.unset?.includes(input) ?? false));

/** The lane of a size, else the one for the largest rows. */
function laneFor({ lanes }: BatchFile['sheet'], size: number): LaneSpec | undefined {
  const climbing = lanes.filter((lane) => lane.size !== undefined);
  const own = climbing.find(({ least = 0, most = 0 }) => size >= least && size <= most);
  return own ?? climbing.toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0)).at(-1);
}
