// Dispatches each event to its handler. Handlers only change the state; decisions issue the commands.

import { clipped } from '../../options/text/clipped.ts';
import { REASON_BYTES } from '../bounds.ts';
import { noteServiceTime } from '../clock.ts';
import { type Event, PASS, RESULTS } from '../events.ts';
import type { Grant } from '../pool/messages.ts';
import { runningRow, type State } from '../state/state.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { onGroupEnded } from './group-ended.ts';
import { finishWhenNotified, onNotified } from '../decisions/notify.ts';
import { onPartCollected, onStoreFailed } from './part-collected.ts';
import { leaveCancelledPasses, onPassLoaded, onRetry, readLeftPass, reopen } from './retry-rows.ts';
import { onRunsCancelled, onRunsCompleted, onRunsOverdue, onRunsSeen } from './run-events.ts';
import { onListRead } from './list-read.ts';
import { isKnownCommand, onCancel, onPause, onRefresh, onResume, onScale } from './user-command.ts';

/** How soon a batch looks again for a pool that is not running. */
export const POOL_AGAIN_MS = 10_000;

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;
type Handlers = { readonly [Type in Event['type']]: (state: State, event: EventOf<Type>) => void };

const HANDLERS: Handlers = {
  started: (state, { serviceNowMs }) => {
    if (serviceNowMs !== undefined) noteServiceTime(state, serviceNowMs);
  },
  groupEnded: (state, event) => {
    onGroupEnded(state, event);
    // After the results, which say what was sent: an end may belong to the same group.
    if (event.ends !== undefined) onRunsCompleted(state, event.ends);
  },
  runsCompleted: onRunsCompleted,
  runsSeen: (state, { runs }) => onRunsSeen(state, runs, 'webhook'),
  runsOverdue: (state, { runs }) => onRunsOverdue(state, runs),
  runsCancelled: (state, { id }) => onRunsCancelled(state, id),
  serviceRead: onServiceRead,
  listRead: (state, { reading }) => onListRead(state, reading),
  pollEnded: onPollEnded,
  evidenceKept: onEvidenceKept,
  partCollected: (state, { part, result }) => onPartCollected(state, part, result),
  storeFailed: (state, event) => {
    if (event.item !== PASS || !leaveCancelledPasses(state)) onStoreFailed(state, event);
  },
  logKept: onLogKept,
  notified: onNotified,
  closed: onClosed,
  passLoaded: onPassLoaded,
  grant: onGrant,
  usageReported: onUsageReported,
  cancel: onCancel,
  pause: onPause,
  scale: onScale,
  resume: onResume,
  retry: onRetry,
  refresh: (state, { commandId }) => onRefresh(state, commandId),
  stopSending: (state) => void (state.isStopping = true),
  woke: () => undefined,
};

export function applyEvent(state: State, event: Event): void {
  // A signal may arrive twice, and late: a pause must not come back after the user has resumed the batch.
  if ('commandId' in event && isKnownCommand(state, event.commandId)) return;
  (HANDLERS[event.type] as (state: State, event: Event) => void)(state, event);
}

/** If runs cannot be read, they keep their slots: without a pause the batch would stop and show no reason. */
function onServiceRead(state: State, { reason }: EventOf<'serviceRead'>): void {
  if (reason === undefined) unpause(state, 'unreadable');
  else pause(state, 'unreadable', `runs cannot be read: ${reason}`);
}

/** Runs of this poll that still run go to the next poll; a newer run of the same row is already in another one. */
function onPollEnded(state: State, { poll }: EventOf<'pollEnded'>): void {
  for (const { place, runId } of state.polls.get(poll) ?? [])
    if (runningRow(state, place)?.runId === runId) state.unpolled.add(place);
  state.polls.delete(poll);
}

/** R26: if a run appeared during the close, the close is repeated with it; an entry of the log is written after it. */
function onClosed(state: State): void {
  state.log.splice(0, state.loggingNow);
  state.loggingNow = 0;
  if (state.pass < state.wantedPass) reopen(state);
  else if (readLeftPass(state)) return;
  else if (state.isEvidenceNew) state.unstored.add(RESULTS);
  else {
    state.isClosed = true;
    finishWhenNotified(state);
  }
}

function onLogKept(state: State, { count }: EventOf<'logKept'>): void {
  state.log.splice(0, count);
  state.loggingNow = 0;
  // A full disk may have room for a few entries: only what failed shows that the store works again.
  if (state.unstored.size === 0) unpause(state, 'store');
  unpause(state, 'elsewhere');
  finishWhenNotified(state);
}

function onEvidenceKept(state: State, { count }: EventOf<'evidenceKept'>): void {
  for (const runId of [...state.evidence.keys()].slice(0, count)) state.evidence.delete(runId);
  state.keeping = 0;
  unpause(state, 'store', 'elsewhere');
}

/** A grant of an earlier membership, or one that a newer grant has replaced, changes nothing. */
function onGrant(state: State, { life, epoch, limit, size }: Grant): void {
  const { membership } = state;
  const isOwn = membership?.life === life && Number.isSafeInteger(epoch) && Number.isSafeInteger(limit);
  if (!isOwn || epoch < membership.epoch) return;
  const ofPool = Number.isSafeInteger(size) ? { size: size as number } : {};
  state.membership = { ...membership, ...(epoch > membership.epoch ? { epoch, limit } : {}), ...ofPool };
}

/** A report that did not arrive is sent again later. */
function onUsageReported(state: State, { failure: reason }: EventOf<'usageReported'>): void {
  const { membership } = state;
  if (membership === undefined) return;
  const { isReporting: _, failure: before, ...idle } = membership;
  if (before?.reason !== reason) state.published.isStale = true;
  if (reason === undefined) {
    state.membership = idle;
    return;
  }
  const { reported: __, ...unreported } = idle;
  const since = before?.since ?? state.now;
  const failure = { reason: clipped(reason, REASON_BYTES), since, againAt: state.now + POOL_AGAIN_MS };
  state.membership = { ...unreported, failure };
}
