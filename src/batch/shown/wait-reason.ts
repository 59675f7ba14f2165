// R30: the reason why a batch that is not paused waits although it has work, in one line. While runs are in flight, their
// number shows what the batch waits for, so only something that holds it back besides them is a reason.

import { plural } from '../../options/text/printed-numbers.ts';
import { alikeText } from '../alike-ends.ts';
import { grantReason } from '../decisions/send.ts';
import { startsPerMinute } from '../sending-limits/rate-limit.ts';
import { freeSlots, hasMoreToSend, hasUnsent, type State } from '../state/state.ts';
import { heldRows } from '../trial.ts';

/** undefined if the batch waits for runs only, or has ended. */
export function waitReason(state: State): string | undefined {
  if (state.finished) return undefined;
  const heldBack = troubleOf(state) ?? trialReason(state) ?? grantReason(state) ?? filesReason(state);
  return heldBack ?? (hasRuns(state) ? undefined : idleReason(state));
}

/** Why groups could not be sent, as long as there are slots and rows to send. */
const troubleOf = (state: State): string | undefined =>
  hasMoreToSend(state) && freeSlots(state) > 0 && state.unclearSince === undefined
    ? state.trouble
    : undefined;

/** Runs in flight may still show that rows can succeed. */
function trialReason({ trial, phases }: State): string | undefined {
  if (trial?.heldAt === undefined) return undefined;
  const waits = `nothing is sent until ${plural(phases.running + phases.sending, 'run')} in flight have ended`;
  return `${alikeText(trial.ends)}; ${waits}`;
}

/** Whether the service still has to end something for the batch. Runs that take too long are being cancelled. */
const hasRuns = ({ phases, overdue }: State): boolean => phases.sending + phases.running > overdue.size;

/** Files that could not be fetched, whatever else the batch does. */
function filesReason({ deferred, filesFault }: State): string | undefined {
  if (deferred.length === 0) return undefined;
  const why = filesFault === undefined ? '' : `: ${filesFault}`;
  return `waiting for files: ${plural(deferred.length, 'row')} to try again${why}`;
}

function unconfirmedReason({ phases, unclearSince, trouble }: State): string {
  const answer = unclearSince === undefined ? '' : ` (${trouble})`;
  return `${plural(phases.unconfirmed, 'attempt')} may have started runs${answer}; waiting for run lists that show them or rule them out`;
}

function idleReason(state: State): string | undefined {
  const { phases, overdue, isLoadingPass, pass, wantedPass } = state;
  if (overdue.size > 0)
    return `waiting for the service to cancel ${plural(overdue.size, 'run')} that took too long`;
  if (phases.unconfirmed > 0) return unconfirmedReason(state);
  const fetching = [...state.parts.values()].reduce((sum, rows) => sum + rows.length, 0);
  if (fetching > 0) return `waiting for files: ${plural(fetching, 'row')}`;
  if (isLoadingPass || pass < wantedPass) return 'waiting for rows that were added or sent again';
  if (state.isClosed) return 'waiting for notifications';
  if (state.closing) return 'waiting for the results to be written';
  if (state.isStopping) return 'waiting for a new workflow run';
  const { length: held } = heldRows(state);
  if (phases.waiting > held) return `waiting for another attempt of ${plural(phases.waiting - held, 'row')}`;
  if (hasUnsent(state))
    return startsPerMinute(state).at > state.now ? 'waiting for --rate' : 'waiting to send its next rows';
  if (state.groups.size > 0)
    return `waiting for the end of ${plural(state.groups.size, 'group')} of requests`;
  if (state.cancels.size > 0) return `waiting for the service to cancel ${plural(state.cancels.size, 'run')}`;
  return state.loggingNow + state.keeping > 0 ? 'waiting for its folder to be written' : undefined;
}
