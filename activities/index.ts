import { Context, heartbeat } from '@temporalio/activity';
import { cancelRuns } from './cancel-runs.ts';
import { close } from './close.ts';
import { collect } from './collect.ts';
import type { Hands } from './hands.ts';
import { lookInLists } from './look-in-lists.ts';
import { plan } from './plan.ts';
import { queueRuns } from './queue-runs.ts';
import { lookAtRuns } from './look-at-runs.ts';

type Bound<T extends Record<string, (hands: Hands, order: never) => unknown>> = {
  [K in keyof T]: (order: Parameters<T[K]>[1]) => ReturnType<T[K]>;
};

const bind = <T extends Record<string, (hands: Hands, order: never) => unknown>>(
  hands: Hands,
  work: T,
): Bound<T> =>
  Object.fromEntries(
    Object.entries(work).map(([name, activity]) => [name, (order: never) => activity(hands, order)]),
  ) as unknown as Bound<T>;

const BEAT_MS = 1_000;

/** Heartbeats as long as the work goes on, however long one step takes; work that was given up waits for nothing more. */
const beating =
  <O, R>(work: (hands: Hands, order: O) => Promise<R>) =>
  async (hands: Hands, order: O): Promise<R> => {
    const beat = setInterval(() => heartbeat(), BEAT_MS);
    try {
      return await Promise.race([work(hands, order), Context.current().cancelled]);
    } finally {
      clearInterval(beat);
    }
  };

/** The activities that send; they share the workflows' task queue. */
export const createSenders = (hands: Hands) => bind(hands, { queueRuns });

/** All other activities; they have a task queue of their own. */
export const createWork = (hands: Hands) =>
  bind(hands, {
    plan: beating(plan),
    lookAtRuns: beating(lookAtRuns),
    lookInLists: beating(lookInLists),
    cancelRuns: beating(cancelRuns),
    collect: beating(collect),
    close: beating(close),
  });

export type Activities = ReturnType<typeof createSenders> & ReturnType<typeof createWork>;
