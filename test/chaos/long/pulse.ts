// Counts, a few times a second, how many runs are outstanding and how many have ended; asks for no more than that, because
// whoever measures shares the machine with what is measured.

import { setTimeout as wait } from 'node:timers/promises';
import type { Rig } from './rig.ts';

const EVERY_MS = 250;
const ENDED = new Set(['success', 'failed', 'timeout', 'cancelled']);

type Beat = { readonly at: number; readonly outstanding: number; readonly ended: number };

export type Pulse = {
  readonly last: () => Beat;
  /** Runs that ended within the given time up to `until`. */
  readonly endsWithin: (ms: number, until?: number) => number;
  readonly stop: () => Promise<void>;
};

const NONE: Beat = { at: 0, outstanding: 0, ended: 0 };

export function takePulse(rig: Rig): Pulse {
  const beats: Beat[] = [];
  const stopped = new AbortController();
  const beat = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const runs = await rig.runs();
      // Of a service that is away nobody knows what is outstanding.
      beats.push(
        runs === undefined ? { ...(beats.at(-1) ?? NONE), at: Date.now(), outstanding: 0 } : beatOf(runs),
      );
      await wait(EVERY_MS);
    }
  };
  const beating = beat();
  const endedBy = (moment: number): number => beats.findLast(({ at }) => at <= moment)?.ended ?? 0;
  return {
    last: () => beats.at(-1) ?? NONE,
    endsWithin: (ms, until = Date.now()) => endedBy(until) - endedBy(until - ms),
    stop: async () => {
      stopped.abort();
      await beating;
    },
  };
}

function beatOf(runs: Readonly<Record<string, number>>): Beat {
  const counts = Object.entries(runs);
  const sum = (isOne: (status: string) => boolean): number =>
    counts.filter(([status]) => isOne(status)).reduce((all, [, count]) => all + count, 0);
  return {
    at: Date.now(),
    outstanding: sum((status) => !ENDED.has(status)),
    ended: sum((status) => ENDED.has(status)),
  };
}
