import { clipped } from '../../options/text/clipped.ts';
import { REASON_BYTES } from '../bounds.ts';
import { isCanaryCollected, withoutSuccess } from '../canary.ts';
import type { Canary } from '../params.ts';
import { pause } from '../pausing/pauses.ts';
import { type State, unsentPlaces } from '../state/state.ts';
import { type Decision, dueIf } from './decision.ts';

/**
 * Decides about a batch whose canary rows are all collected. If a canary row did not succeed, or the user wants to be
 * asked, the batch pauses until the user resumes it; otherwise it sends the other rows.
 */
export const judgeCanary: Decision = {
  dueAt: (state) => dueIf(state.gate === 'closed' && !state.pauses.has('canary') && isCanaryCollected(state)),
  act: (state) => {
    const { rows, asks } = state.params.canary as Canary;
    const failed = withoutSuccess({ tally: state.tally, refused: state.params.refused });
    if (failed > 0) pause(state, 'canary', failureText(state, failed, rows));
    else if (asks) pause(state, 'canary', successText(rows, unsentPlaces(state)));
    else state.gate = 'open';
  },
};

function failureText({ lastFailure }: State, failed: number, rows: number): string {
  const { outcome, reason } = lastFailure ?? {};
  const why = reason ?? outcome;
  const noun = rows === 1 ? 'canary row' : 'canary rows';
  return clipped(`${failed} of ${rows} ${noun} failed${why === undefined ? '' : `: ${why}`}`, REASON_BYTES);
}

const successText = (rows: number, left: number): string =>
  rows === 1
    ? `the canary row succeeded; ${left} more are not sent yet`
    : `all ${rows} canary rows succeeded; ${left} more are not sent yet`;
