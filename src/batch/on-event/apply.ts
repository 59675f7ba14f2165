// Every event by the file that says what it changes. Nothing here asks for anything: that is what decisions do.

import { noteServiceTime } from '../clock.ts';
import { RESULTS, type Event } from '../events.ts';
import { pause, unpause } from '../pauses.ts';
import { runningRow, type State } from '../state.ts';
import { onGroupEnded } from './group-ended.ts';
import { onListRead } from './list-read.ts';
import { onPartCollected, onStoreFailed } from './part-collected.ts';
import { onRunsCancelled, onRunsOverdue } from './runs-overdue.ts';
import { onRunsCompleted } from './runs-completed.ts';
import { onRunsSeen } from './runs-seen.ts';
import { acknowledge, onCancel, onRefresh, onResume } from './user-command.ts';

export function applyEvent(state: State, event: Event): void {
  switch (event.type) {
    case 'groupEnded':
      return onGroupEnded(state, event);
    case 'runsCompleted':
      return onRunsCompleted(state, event.completions, event.by);
    case 'runsSeen':
      return onRunsSeen(state, event.runs, 'webhook');
    case 'runsOverdue':
      return onRunsOverdue(state, event.runs);
    case 'runsCancelled':
      return onRunsCancelled(state, event.id);
    case 'serviceRead':
      return onServiceRead(state, event.reason);
    case 'listRead':
      return onListRead(state, event.reading);
    case 'pollEnded':
      return onPollEnded(state, event.poll);
    case 'evidenceKept':
      return onEvidenceKept(state, event.count);
    case 'partCollected':
      return onPartCollected(state, event.part, event.result);
    case 'storeFailed':
      return onStoreFailed(state, event.item, event.reason);
    case 'cancel':
      acknowledge(state, event.commandId);
      return onCancel(state, event.running);
    case 'resume':
      acknowledge(state, event.commandId);
      return onResume(state, event.unconfirmed);
    case 'refresh':
      return onRefresh(state, event.commandId);
    case 'stopSending':
      state.isStopping = true;
      return;
    case 'closed':
      return onClosed(state);
    case 'started':
      if (event.serviceNowMs !== undefined) noteServiceTime(state, event.serviceNowMs);
      return;
    case 'woke':
      return;
  }
}

/** Runs whose ends cannot be seen keep their slots: without a pause the batch would stand still and say nothing. */
function onServiceRead(state: State, reason: string | undefined): void {
  if (reason === undefined) unpause(state, 'unreadable');
  else pause(state, 'unreadable', `runs cannot be read: ${reason}`);
}

/** What still runs of it is for the next poll; a later run of such a row has a poll of its own. */
function onPollEnded(state: State, poll: number): void {
  for (const { row, runId } of state.polls.get(poll) ?? [])
    if (runningRow(state, row)?.runId === runId) state.unpolled.add(row);
  state.polls.delete(poll);
}

/** R26: a run that turned up meanwhile is for another close, which writes the same and more. */
function onClosed(state: State): void {
  if (state.isEvidenceNew) state.unstored.add(RESULTS);
  else state.finished = true;
}

function onEvidenceKept(state: State, count: number): void {
  for (const runId of [...state.evidence.keys()].slice(0, count)) state.evidence.delete(runId);
  state.keeping = 0;
  unpause(state, 'store');
}
