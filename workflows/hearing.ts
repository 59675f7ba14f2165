// What a batch is told and asked: signals and updates become events, asks are answered.

import { ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import type { Event } from '../src/batch/messages.ts';
import type { State } from '../src/batch/state.ts';
import { view, type BatchView } from '../src/batch/view.ts';
import { watch } from '../src/batch/watching.ts';
import {
  askUpdate,
  cancelUpdate,
  resumeUpdate,
  runsEnded,
  runsOverdue,
  runsSeen,
  serviceRead,
  TOLD,
  type Told,
} from './messages.ts';

export type Tell = (event: Event) => void;

/** Refuses every ask with its answer. */
export function beAsked(now: () => State | undefined): void {
  const validator = (what: keyof Told): never => {
    const state = now();
    throw ApplicationFailure.create({ type: TOLD, details: [state && { view, watch }[what](state)] });
  };
  setHandler(askUpdate, validator, { validator });
}

/** Turns signals and updates into events; returns how many signals this workflow run has had. */
export function hear(tell: Tell, decide: () => void, state: State): () => number {
  let signals = 0;
  setHandler(runsEnded, (by, ends) => {
    signals += 1;
    tell({ type: 'runsEnded', by, ends });
  });
  setHandler(runsSeen, (seen) => {
    signals += 1;
    tell({ type: 'runsSeen', seen });
  });
  setHandler(runsOverdue, (runs) => {
    signals += 1;
    tell({ type: 'overdue', runs });
  });
  setHandler(serviceRead, (told) => {
    signals += 1;
    tell({ type: 'read', ...told });
  });
  const answer = (event: Event): BatchView => {
    tell(event);
    decide();
    return view(state);
  };
  setHandler(cancelUpdate, ({ running }) => answer({ type: 'cancel', running }));
  setHandler(resumeUpdate, (order) => answer({ type: 'resume', ...order }));
  // Temporal's own cancel, from its command line or pages, means the same as ours with the running runs.
  void CancellationScope.current().cancelRequested.catch(() => tell({ type: 'cancel', running: true }));
  return () => signals;
}
