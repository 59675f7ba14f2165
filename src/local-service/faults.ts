// What can be made to go wrong, each with a rate. Whether a fault strikes is drawn from the seed, the fault's name and
// the number of the run, so that a rehearsal can be repeated and a retry of the same row may still fare better.

import { nearest, problem } from '../errors.ts';
import { chance } from './chance.ts';

const TABLE = {
  fail: 'the run ends failed half way, without outputs',
  'drop-request': 'Queue Run cuts the connection, and creates no run',
  'drop-answer': 'Queue Run creates the run, then the connection is cut without an answer',
  'error-before': 'Queue Run answers 500 in plain text, and creates no run',
  'error-after': 'Queue Run creates the run and answers 500 in plain text',
  busy: 'Queue Run answers 429 with Retry-After: 1, and creates no run',
  'slow-answer': 'Queue Run creates the run and answers 5 s later',
  'lose-webhook': 'a webhook is never sent',
  'repeat-webhook': 'a webhook is sent twice',
  'empty-webhook': 'the webhook of a success carries no outputs',
  'lose-file': 'a file of a run cannot be fetched, at that try',
} as const satisfies Record<string, string>;

type Fault = keyof typeof TABLE;

/** The names of all known faults. */
export const FAULTS: readonly string[] = Object.keys(TABLE);

export type Faults = {
  /** Whether the fault strikes the run; `occasion` tells apart several moments of one run. */
  strikes(fault: Fault, runNumber: number, occasion?: string | number): boolean;
  /** The rates as they are; those that are not set are 0. */
  rates(): Readonly<Record<string, number>>;
  /** Sets the rates that are named, from now on. Throws as {@link createFaults}. */
  set(rates: Readonly<Record<string, number>>): void;
  /** How often each fault has struck. */
  counts(): Readonly<Record<string, number>>;
};

/** Rates are 0 to 1. Throws E602 for an unknown name, naming the nearest, and for a rate outside 0 to 1. */
export function createFaults(given: Readonly<Record<string, number>>, seed: number): Faults {
  const rates: Record<string, number> = {};
  const set = (wanted: Readonly<Record<string, number>>): void => {
    for (const [name, rate] of Object.entries(wanted)) check(name, rate);
    Object.assign(rates, wanted);
  };
  set(given);
  const counts: Record<string, number> = {};
  return {
    strikes(fault, runNumber, occasion = '') {
      const rate = rates[fault] ?? 0;
      if (rate === 0 || chance(seed, fault, runNumber, occasion) >= rate) return false;
      counts[fault] = (counts[fault] ?? 0) + 1;
      return true;
    },
    rates: () => ({ ...rates }),
    set,
    counts: () => ({ ...counts }),
  };
}

function check(name: string, rate: number): void {
  if (!FAULTS.includes(name)) {
    const near = nearest(name, FAULTS);
    const hint = `${near === undefined ? '' : `did you mean ${near}? `}faults: ${FAULTS.join(', ')}`;
    throw problem('E602', { what: `there is no fault "${name}"`, hint });
  }
  if (!(rate >= 0 && rate <= 1)) {
    throw problem('E602', { what: `the rate of the fault "${name}" is ${rate}`, hint: 'rates are 0 to 1' });
  }
}
