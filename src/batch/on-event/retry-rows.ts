// Sends rows with an outcome again, and sends appended rows. A command names a pass, whose file in the store names
// the rows, so any number of rows costs one signal. A batch that is closing, or has just ended, closes once more
// after them.

import { tallyOutcome } from '../accounting/tally.ts';
import { type Event, note } from '../events.ts';
import { tryCanaryAgain } from '../canary.ts';
import { rejoined } from '../pool/messages.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { addLanes, addSegments } from '../state/lanes.ts';
import { NEW_TRIAL, type State } from '../state/state.ts';
import { startTrial } from '../trial.ts';
import { unpause } from '../pausing/pauses.ts';
import { acknowledge, type CommandAnswer } from './user-command.ts';

export function onRetry(state: State, command: Extract<Event, { type: 'retry' }>): void {
  const { commandId, pass } = command;
  if (pass <= state.pass) return acknowledge(state, commandId);
  state.wantedPass = Math.max(state.wantedPass, pass);
  state.passCommands = [...state.passCommands, { id: commandId, pass }];
  if (state.finished || state.isClosed) reopen(state);
}

/** The results were written without the rows of a pass; they are written again after it. */
export function reopen(state: State): void {
  state.closing = false;
  state.isClosed = false;
  state.finished = false;
  state.cancelling = undefined;
  // A batch that has left its pool joins again: it has no slots before the pool grants some.
  if (state.membershipLeft !== undefined) state.membership = rejoined(state.membershipLeft, state);
  state.membershipLeft = undefined;
  // Only rows that end from now on count for --fail-after, and in the trial.
  state.resumedAt = state.endings;
  state.trial &&= NEW_TRIAL;
}

export function onPassLoaded(
  state: State,
  { pass, segments, appended = 0, by, reason }: Extract<Event, { type: 'passLoaded' }>,
): void {
  state.isLoadingPass = false;
  // A readable pass does not show that the store can be written.
  if (state.pauses.get('store')?.isRead) unpause(state, 'store');
  unpause(state, 'elsewhere');
  if (pass !== state.pass + 1) return;
  state.pass = pass;
  state.notified = [];
  const again = segments.reduce((sum, { count, isNew }) => sum + (isNew ? 0 : count), 0);
  if (segments.length > 0) startTrial(state);
  if (appended > 0) state.params = { ...state.params, rows: state.params.rows + appended };
  // A batch that is being cancelled sends nothing more, so these rows keep their outcome, or are cancelled.
  const isCancelled = isCancelledPass(state, pass);
  if (isCancelled) {
    addLanes(state.lanes, segments);
    state.tally = tallyOutcome(state.tally, 'cancelled', appended);
  } else {
    addSegments(state.lanes, segments);
    state.again += again;
    if (state.gate === 'closed' && again > 0) {
      tryCanaryAgain(state.lanes);
      unpause(state, 'canary');
    }
  }
  const answer = isCancelled ? CANCELLED : { ok: true, note: noteOf(again, appended) };
  const event = appended > 0 ? 'appended' : 'retried';
  if (segments.length > 0) note(state, { event, by, reason, note: answer.note });
  answerPasses(state, pass, answer);
}

const CANCELLED = { ok: false, note: 'the batch is cancelled: it sends nothing more' } as const;

const isCancelledPass = ({ cancelling, cancelledPass }: State, pass: number): boolean =>
  cancelling !== undefined || pass <= cancelledPass;

function answerPasses(state: State, through: number, answer: CommandAnswer): void {
  const due = state.passCommands.filter((command) => command.pass <= through);
  state.passCommands = state.passCommands.filter((command) => command.pass > through);
  for (const { id } of due) acknowledge(state, id, answer);
}

/**
 * Leaves out passes that send nothing and cannot be read, because a cancelled batch must end; false if the next pass
 * has to be read. Rows sent again keep their outcome; appended rows have none until `readLeftPass` or a later retry.
 */
export function leaveCancelledPasses(state: State): boolean {
  if (!isCancelledPass(state, state.wantedPass)) return false;
  state.isLoadingPass = false;
  state.cancelledPass = Math.max(state.cancelledPass, state.wantedPass);
  answerPasses(state, state.wantedPass, CANCELLED);
  state.wantedPass = state.pass;
  return true;
}

/**
 * Once the store has taken the results, it may also show a pass that was left out, whose new rows then end as
 * cancelled.
 */
export function readLeftPass(state: State): boolean {
  const { cancelledPass, cancelling } = state;
  if (cancelledPass <= Math.max(state.pass, state.triedPass ?? 0)) return false;
  state.triedPass = cancelledPass;
  state.wantedPass = cancelledPass;
  reopen(state);
  state.cancelling = cancelling;
  return true;
}

/** A run that is seen while the batch tells its pool of its end is not in the results, so they are written again. */
export function readLateRuns(state: State): boolean {
  if (!state.isEvidenceNew) return false;
  const { cancelling } = state;
  reopen(state);
  state.cancelling = cancelling;
  return true;
}

/** `10 rows appended, 2 rows sent again`. */
function noteOf(again: number, appended: number): string {
  const sent = `${plural(again, 'row')} sent again`;
  return appended === 0 ? sent : `${plural(appended, 'row')} appended${again === 0 ? '' : `, ${sent}`}`;
}
