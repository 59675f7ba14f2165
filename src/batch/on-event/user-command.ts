// Handles the commands of users. Each is acknowledged in the memo once it is in force, where the command line waits for that.

import { cancelRun } from '../accounting/duplicates.ts';
import { COMMANDS_KNOWN, REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/clipped.ts';
import type { Event, UserCommand } from '../events.ts';
import { note } from '../event-log.ts';
import { budgetLeft } from '../sending-limits/budget.ts';
import { isAboveGpuCap } from '../sending-limits/adaptive-cap.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import {
  NO_LIMIT,
  runningRow,
  usedSlots,
  waitingRows,
  type Acknowledgement,
  type PendingCommand,
  type State,
} from '../state/state.ts';
import { changeLimits } from './change-limits.ts';
import { endRow } from './end-row.ts';
import { notifyAgain } from './notified.ts';
import { decideUnconfirmed } from './list-read.ts';
import { fetchNow, filesAreFine } from './part-collected.ts';

/** How many acknowledgements a batch keeps; a command reads its own within seconds. */
export const ACKNOWLEDGED_MOST = 20;

export type Answer = Omit<Acknowledgement, 'id'>;
const DONE: Answer = { ok: true };
const ALL_ENDED = 'every row has its outcome already';

export function acknowledge(state: State, id: string | undefined, answer: Answer = DONE): void {
  if (id === undefined) return;
  state.knownCommands = [...state.knownCommands, id].slice(-COMMANDS_KNOWN);
  state.acknowledgements = [...state.acknowledgements, { id, ...answer }].slice(-ACKNOWLEDGED_MOST);
}

/** Acknowledges the command when no POST of the groups in flight can start any more. */
function acknowledgeLater(
  state: State,
  { type: kind, commandId: id }: { readonly type: PendingCommand['kind']; readonly commandId?: string },
  answer: Answer,
): void {
  const pending = { id, kind, ...answer, upTo: state.nextGroup - 1 };
  state.pendingCommands = [...state.pendingCommands, pending];
  const [oldest] = state.pendingCommands;
  if (state.pendingCommands.length > ACKNOWLEDGED_MOST)
    overtake(state, (command) => command === oldest, kind);
}

export const isKnownCommand = (state: State, commandId: string | undefined): boolean =>
  commandId !== undefined &&
  (state.knownCommands.includes(commandId) ||
    [...state.pendingCommands, ...state.passCommands].some(({ id }) => id === commandId));

/** A command that is not in force yet, and that another one reverses, never will be. */
function overtake(state: State, isOvertaken: (command: PendingCommand) => boolean, by: string): void {
  const overtaken = state.pendingCommands.filter(isOvertaken);
  state.pendingCommands = state.pendingCommands.filter((command) => !overtaken.includes(command));
  for (const { id } of overtaken) acknowledge(state, id, { ok: false, note: `overtaken by a later ${by}` });
}

export const originOf = ({ by, reason }: UserCommand): Pick<UserCommand, 'by' | 'reason'> => ({
  ...(by === undefined ? {} : { by }),
  ...(reason === undefined ? {} : { reason }),
});

/** Sends nothing more until the user resumes the batch. Runs continue, and their results are collected. */
export function onPause(state: State, command: Extract<Event, { type: 'pause' }>): void {
  const refused = refusal(state);
  if (refused !== undefined) return acknowledge(state, command.commandId, { ok: false, note: refused });
  if (state.pauses.has('user')) return acknowledgeLater(state, command, { ...DONE, note: 'already paused' });
  const { by = 'a user', reason } = command;
  const text = `paused by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  pause(state, 'user', clipped(text, REASON_BYTES));
  acknowledgeLater(state, command, DONE);
}

/** Changes limits. A lower concurrency is in force when no group can start a run beyond it. */
export function onScale(state: State, command: Extract<Event, { type: 'scale' }>): void {
  const { commandId, limits } = command;
  const refused = refusal(state);
  const change = refused === undefined ? changeLimits(state, limits) : { ok: false, note: refused };
  if (!change.ok) return acknowledge(state, commandId, change);
  overtake(state, ({ kind }) => kind === 'scale', 'scale');
  note(state, { event: 'scaled', ...originOf(command), note: change.note, limits });
  // A limit that is no longer reached pauses no batch.
  if (limits.deadlineAt !== undefined) unpause(state, 'deadline');
  if (limits.failAfter !== undefined) unpause(state, 'failures');
  if (limits.maxCostNano !== undefined) unpause(state, 'budget');
  notifyAgain(state, limits);
  const isBelow =
    usedSlots(state) > state.params.concurrency || isAboveGpuCap(state) || budgetLeft(state) < 0;
  if (isBelow || typeof limits.startsPerMinute === 'number') acknowledgeLater(state, command, change);
  else acknowledge(state, commandId, change);
}

/** Why the command changes nothing any more. */
function refusal({ closing, cancelling, pass, wantedPass }: State): string | undefined {
  if (closing && pass >= wantedPass) return ALL_ENDED;
  return cancelling === undefined || closing ? undefined : 'the batch is cancelled: it sends nothing more';
}

/** Stops sending and cancels the rows that wait. Runs continue, or are cancelled too if `running` is set. */
export function onCancel(state: State, command: Extract<Event, { type: 'cancel' }>): void {
  const { running } = command;
  if (state.closing) {
    // A pass that was added during the close sends nothing.
    state.cancelledPass = state.wantedPass;
    return acknowledge(state, command.commandId);
  }
  overtake(state, ({ kind }) => kind !== 'cancel', 'cancel');
  acknowledgeLater(state, command, DONE);
  const isAll = running && state.version >= 4 ? { running: true as const } : {};
  note(state, { event: 'cancelled', ...isAll, ...originOf(command) });
  state.cancelling = running || state.cancelling === 'running' ? 'running' : 'unsent';
  if (state.gate !== undefined) state.gate = 'open';
  // A paused batch would never finish.
  state.pauses.clear();
  for (const row of waitingRows(state))
    endRow(state, row, { outcome: 'cancelled', reason: 'cancelled before it was sent again' });
  if (running) cancelAllRunning(state);
}

export function cancelAllRunning(state: State): void {
  if (state.phases.running === 0) return;
  for (const number of state.rows.keys()) {
    const row = runningRow(state, number);
    if (row) cancelRun(state, { place: number, attempt: row.attempt, runId: row.runId });
  }
}

/** Ends every pause and every wait, and changes limits. After it, only rows that end later count as failures. */
export function onResume(state: State, command: Extract<Event, { type: 'resume' }>): void {
  const { unconfirmed, limits = {} } = command;
  const before = state.params;
  // The state to continue from is written without these limits, and after the end not even the log takes the command.
  const isLate = state.version >= 4 && state.closing && state.pass >= state.wantedPass;
  if (isLate && (state.finished || Object.keys(limits).length > 0))
    return acknowledge(state, command.commandId, { ok: false, note: ALL_ENDED });
  // The user continues in spite of a deadline that has passed, but may give another one.
  if (!isLate) state.params = withoutPassedDeadline(state);
  const change = changeLimits(state, limits);
  // Limits that cannot be changed do not continue a batch that the user wanted to continue with them.
  if (!change.ok) {
    state.params = before;
    return acknowledge(state, command.commandId, change);
  }
  const changed = Object.keys(limits).length === 0 ? {} : { note: change.note };
  overtake(state, ({ kind }) => kind === 'pause' || (kind === 'scale' && 'note' in changed), 'resume');
  acknowledge(state, command.commandId, { ...DONE, ...changed });
  note(state, {
    event: 'resumed',
    ...originOf(command),
    ...changed,
    ...('note' in changed ? { limits } : {}),
  });
  if (unconfirmed !== undefined) decideUnconfirmed(state, unconfirmed);
  // Before the verdict, a resume ends only other pauses.
  if (state.pauses.has('canary')) state.gate = 'open';
  state.pauses.clear();
  state.resumedAt = state.endings;
  notifyAgain(state, limits, 'pauses');
  filesAreFine(state);
  fetchNow(state);
  state.trouble = undefined;
  state.holdUntil = state.now;
  state.consecutiveFailures = 0;
  state.rateLimit = NO_LIMIT;
}

function withoutPassedDeadline({ params, wallAt, pauses }: State): State['params'] {
  const { deadlineAt, ...others } = params;
  // Temporal's time may have been set back since.
  const hasPassed = pauses.has('deadline') || (deadlineAt !== undefined && deadlineAt <= wallAt);
  return hasPassed ? others : params;
}

export function onRefresh(state: State, commandId: string | undefined): void {
  state.isStopping = true;
  if (commandId !== undefined) state.refreshIds = [...state.refreshIds, commandId].slice(-ACKNOWLEDGED_MOST);
}
