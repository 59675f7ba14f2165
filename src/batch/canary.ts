// The canary of a batch (--canary): rows that are sent before all others, from the first places of their lanes.
//
//   closed   only canary rows are sent; decisions/judge-canary.ts waits until all of them are collected. A canary row that is
//            sent again, such as with other inputs, is sent alone too, and then the canary is judged again
//   open     all rows are sent: every canary row succeeded, or a user resumed the batch after the verdict, or cancelled it
//
// A batch without a canary has no gate.

import { rowsDone } from './accounting/tally.ts';
import type { Lane, Segment } from './state/lanes.ts';
import type { BatchParams } from './params.ts';
import type { State } from './state/state.ts';

type Gate = NonNullable<State['gate']>;

/** Whether the rows of a segment may be sent now. */
export const mayPass = ({ gate }: Pick<State, 'gate'>, { isCanary }: Segment): boolean =>
  gate !== 'closed' || isCanary === true;

/** Whether every row of the canary is collected. */
export const isCanaryCollected = ({ lanes, rows, parts }: State): boolean =>
  rows.size + parts.size === 0 && lanes.every(({ segments }) => !segments[0]?.isCanary);

/** `refused`: rows of the tally that were never sent. */
type SentTally = Pick<State, 'tally'> & { readonly refused?: number | undefined };

/** Rows that were sent, are collected and did not succeed; the closed gate let no other rows pass. */
export const withoutSuccess = ({ tally, refused = 0 }: SentTally): number =>
  rowsDone(tally) - tally.outcomes.succeeded - Math.min(refused, tally.outcomes.refused);

/** Progress of the canary, as users see it. */
export type CanaryProgress = { readonly rows: number; readonly ended: number; readonly gate: Gate };

export function canaryProgress(state: State): CanaryProgress | undefined {
  const { params, gate, lanes, phases } = state;
  if (params.canary === undefined || gate === undefined) return undefined;
  const { rows } = params.canary;
  if (gate === 'open') return { rows, ended: rows, gate };
  const unsent = lanes
    .flatMap(({ segments }) => segments)
    .reduce((sum, { count, isCanary }) => sum + (isCanary ? count : 0), 0);
  const { waiting, sending, running, unconfirmed } = phases;
  return { rows, ended: rows - unsent - waiting - sending - running - unconfirmed, gate };
}

/** While the gate is closed, only canary rows have outcomes, so rows that are sent again belong to the canary. */
export function tryCanaryAgain(lanes: readonly Lane[]): void {
  for (const { segments } of lanes) {
    const again = segments.filter(({ isAgain }) => isAgain);
    const firstTime = segments.filter(({ isAgain }) => !isAgain);
    const canary = firstTime.filter(({ isCanary }) => isCanary);
    const afterCanary = firstTime.filter(({ isCanary }) => !isCanary);
    const tried = again.map((segment) => ({ ...segment, isCanary: true as const }));
    segments.splice(0, segments.length, ...canary, ...tried, ...afterCanary);
  }
}

/** Whether rows outside the canary were taken from the lanes, which means that the gate was open before. */
export const hasPassed = (lanes: readonly Lane[], { lanes: specs }: Pick<BatchParams, 'lanes'>): boolean =>
  specs.some(({ places, canary = 0 }, at) => {
    const left = lanes[at]?.segments ?? [];
    return (
      left.reduce(
        (sum, segment) => sum + (segment.isCanary || segment.isAgain ? 0 : ownIn(segment, places)),
        0,
      ) <
      places - canary
    );
  });

/** How many places of a segment belong to the sheet; places after them were appended. */
const ownIn = ({ first, count }: Segment, places: number): number =>
  Math.max(0, Math.min(count, places - first + 1));
