// R30: names why a batch that is not paused waits although it has work, in one line. While runs are in flight that may end, it waits
// for them, and that is shown by their number; so only what holds it back beside them has a reason then.

import { grantReason } from '../limits/grant.ts';
import { startsPerMinute } from '../limits/starts-per-minute.ts';
import { freeSlots, hasMoreToSend, hasUnsent, type State } from '../state/state.ts';

/** undefined if the batch waits for runs only, or has ended. */
export function waitReason(state: State): string | undefined {
  if (state.finished) return undefined;
  const heldBack = troubleOf(state) ?? grantReason(state) ?? filesReason(state);
  return heldBack ?? (hasRuns(state) ? undefined : idleReason(state));
}

/** Why groups could not be sent, as long as there are slots and rows to send. */
const troubleOf = (state: State): string | undefined =>
  hasMoreToSend(state) && freeSlots(state) > 0 ? state.trouble : undefined;

/** Whether the service still has to end something for the batch. Runs that take too long are being cancelled. */
const hasRuns = ({ phases, overdue }: State): boolean => phases.sending + phases.running > overdue.size;

/** Files that could not be fetched, whatever else the batch does. */
function filesReason({ deferred, filesFault }: State): string | undefined {
  if (deferred.length === 0) return undefined;
  const why = filesFault === undefined ? '' : `: ${filesFault}`;
  return `waiting for files: ${plural(deferred.length, 'row')} to try again${why}`;
}

function idleReason(state: State): string | undefined {
  const { phases, overdue, isLoadingPass, pass, wantedPass } = state;
  if (overdue.size > 0)
    return `waiting for the service to cancel ${plural(overdue.size, 'run')} that took too long`;
  if (phases.unconfirmed > 0)
    return `${plural(phases.unconfirmed, 'attempt')} may have started runs; waiting for run lists that show them or rule them out`;
  const fetching = [...state.parts.values()].reduce((sum, rows) => sum + rows.length, 0);
  if (fetching > 0) return `waiting for files: ${plural(fetching, 'row')}`;
  if (isLoadingPass || pass < wantedPass) return `waiting for the rows of pass ${wantedPass}`;
  if (state.isClosed) return 'waiting for notifications';
  if (state.closing) return 'waiting for the results to be written';
  if (state.isStopping) return 'waiting for a new workflow run';
  if (phases.waiting > 0) return `waiting for another attempt of ${plural(phases.waiting, 'row')}`;
  if (hasUnsent(state))
    return startsPerMinute(state).at > state.now ? 'waiting for --rate' : 'waiting to send its next rows';
  if (state.groups.size > 0)
    return `waiting for the end of ${plural(state.groups.size, 'group')} of requests`;
  if (state.cancels.size > 0) return `waiting for the service to cancel ${plural(state.cancels.size, 'run')}`;
  return state.loggingNow + state.keeping > 0 ? 'waiting for its folder to be written' : undefined;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
