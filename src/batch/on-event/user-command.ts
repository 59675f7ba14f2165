// Handles the commands of users. The batch acknowledges each in the memo, where the command line waits for it, once
// it is in force.

import { cancelRun } from '../accounting/duplicates.ts';
import { COMMANDS_KNOWN, REASON_BYTES } from '../bounds.ts';
import { clipped, clippedAtWord } from '../../options/text/clipped.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { type Event, note } from '../events.ts';
import { budgetLeft } from '../sending-limits/budget.ts';
import { forgetAbsences } from '../sending-limits/circuit-breaker.ts';
import { isAboveGpuCap } from '../sending-limits/adaptive-cap.ts';
import {
  NO_LIMIT,
  runningRow,
  usedSlots,
  waitingRows,
  type Acknowledgement,
  type PendingCommand,
  type State,
} from '../state/state.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { endRow } from '../state/put-row.ts';
import { notifyAgain } from '../decisions/notify.ts';
import { changeLimits } from './change-limits.ts';
import { decideUnconfirmed } from './list-read.ts';
import { fetchNow, filesAreFine } from './part-collected.ts';
import { endTrial, resumeTrial } from '../trial.ts';

/** How many acknowledgements a batch keeps; a command reads its own within seconds. */
export const MAX_ACKNOWLEDGED = 20;

export type CommandAnswer = Omit<Acknowledgement, 'id'>;
const DONE: CommandAnswer = { ok: true };
const ALL_ENDED = 'every row has its outcome already';

export function acknowledge(state: State, id: string | undefined, answer: CommandAnswer = DONE): void {
  if (id === undefined) return;
  state.knownCommands = [...state.knownCommands, id].slice(-COMMANDS_KNOWN);
  const { ok, note: text } = answer;
  const acknowledgement = definedOnly({ id, ok, note: text && clippedAtWord(text, REASON_BYTES) });
  state.acknowledgements = [...state.acknowledgements, acknowledgement].slice(-MAX_ACKNOWLEDGED);
}

/** Acknowledges the command when no POST of the groups in flight can start any more. */
function acknowledgeLater(
  state: State,
  { type: kind, commandId: id }: { readonly type: PendingCommand['kind']; readonly commandId?: string },
  answer: CommandAnswer,
): void {
  const pending = { id, kind, ...answer, upTo: state.nextGroup - 1 };
  state.pendingCommands = [...state.pendingCommands, pending];
  const [oldest] = state.pendingCommands;
  if (state.pendingCommands.length > MAX_ACKNOWLEDGED) overtake(state, (command) => command === oldest, kind);
}

export const isKnownCommand = (state: State, commandId: string | undefined): boolean =>
  commandId !== undefined &&
  (state.knownCommands.includes(commandId) ||
    [...state.pendingCommands, ...state.passCommands].some(({ id }) => id === commandId));

/** Acknowledges pending commands that will never be in force, because another command reverses them. */
function overtake(state: State, isOvertaken: (command: PendingCommand) => boolean, by: string): void {
  const overtaken = state.pendingCommands.filter(isOvertaken);
  state.pendingCommands = state.pendingCommands.filter((command) => !overtaken.includes(command));
  for (const { id } of overtaken) acknowledge(state, id, { ok: false, note: `overtaken by a later ${by}` });
}

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
  const { commandId, limits, by, reason } = command;
  const refused = refusal(state);
  const change = refused === undefined ? changeLimits(state, limits) : { ok: false, note: refused };
  if (!change.ok) return acknowledge(state, commandId, change);
  overtake(state, ({ kind }) => kind === 'scale', 'scale');
  note(state, { event: 'scaled', by, reason, note: change.note, limits });
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

/** The reason why the command can no longer change anything. */
function refusal({ closing, cancelling, pass, wantedPass }: State): string | undefined {
  if (closing && pass >= wantedPass) return ALL_ENDED;
  return cancelling === undefined || closing ? undefined : 'the batch is cancelled: it sends nothing more';
}

/** Stops sending and cancels the rows that wait. Runs continue, or are cancelled too if `running` is set. */
export function onCancel(state: State, command: Extract<Event, { type: 'cancel' }>): void {
  const { running, by, reason } = command;
  if (state.closing) {
    // A pass that was added during the close sends nothing.
    state.cancelledPass = state.wantedPass;
    return acknowledge(state, command.commandId);
  }
  overtake(state, ({ kind }) => kind !== 'cancel', 'cancel');
  acknowledgeLater(state, command, DONE);
  note(state, { event: 'cancelled', running: running ? true : undefined, by, reason });
  state.cancelling = running || state.cancelling === 'running' ? 'running' : 'unsent';
  if (state.gate !== undefined) state.gate = 'open';
  // A paused batch would never finish.
  state.pauses.clear();
  endTrial(state);
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
  const { unconfirmed, limits = {}, by, reason } = command;
  const before = state.params;
  // The final snapshot is already written without these limits; after the end, even the log rejects the command.
  const isLate = state.closing && state.pass >= state.wantedPass;
  if (isLate && (state.finished || Object.keys(limits).length > 0))
    return acknowledge(state, command.commandId, { ok: false, note: ALL_ENDED });
  // The user continues despite a deadline that has passed, but may set a new one.
  if (!isLate) state.params = withoutPassedDeadline(state);
  const change = changeLimits(state, limits);
  // If the limits cannot be changed, the batch does not continue: the user wanted to continue with them.
  if (!change.ok) {
    state.params = before;
    return acknowledge(state, command.commandId, change);
  }
  const changed = Object.keys(limits).length === 0 ? {} : { note: change.note, limits };
  overtake(state, ({ kind }) => kind === 'pause' || (kind === 'scale' && 'note' in changed), 'resume');
  acknowledge(state, command.commandId, definedOnly({ ...DONE, note: changed.note }));
  note(state, { event: 'resumed', by, reason, ...changed });
  if (unconfirmed !== undefined) decideUnconfirmed(state, unconfirmed);
  // Before the verdict, a resume ends only other pauses.
  if (state.pauses.has('canary')) state.gate = 'open';
  resumeTrial(state);
  state.pauses.clear();
  state.resumedAt = state.endings;
  notifyAgain(state, limits, 'pauses');
  filesAreFine(state);
  fetchNow(state);
  forgetAbsences(state);
  state.trouble = undefined;
  state.unclearSince = undefined;
  state.holdUntil = state.now;
  state.consecutiveFailures = 0;
  state.rateLimit = NO_LIMIT;
}

function withoutPassedDeadline({ params, wallAt, pauses }: State): State['params'] {
  const { deadlineAt, ...openEnded } = params;
  // Temporal's time may have been set back since.
  const hasPassed = pauses.has('deadline') || (deadlineAt !== undefined && deadlineAt <= wallAt);
  return hasPassed ? openEnded : params;
}

export function onRefresh(state: State, commandId: string | undefined): void {
  state.isStopping = true;
  if (commandId !== undefined) state.refreshIds = [...state.refreshIds, commandId].slice(-MAX_ACKNOWLEDGED);
}
