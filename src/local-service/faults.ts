// What can be made to go wrong, each with a rate. Whether a fault shouldInject is drawn from the seed, the fault's name and
// the number of the run, so that a rehearsal can be repeated and a retry of the same row may still fare better. A run may
// also name, in an input of its own, the faults that inject it whatever their rates are.

import { nearest, problem } from '../errors/error.ts';
import { chance } from './chance.ts';

/** The ways in which an answer can be bad on the wire. */
export const FACES = {
  drop: 'the connection is closed without a word',
  reset: 'the connection is reset',
  silence: 'no answer ever comes',
  head: 'the connection is cut in the middle of the headers',
  interim: '103 Early Hints, and then nothing',
  error: '500 in plain text',
  gateway: "502 with a gateway's page",
  garbage: '200 with something that is no JSON',
  truncated: '200 with JSON that ends too early',
  short: '200 whose Content-Length promises more than comes',
  nan: '200 with NaN where the id should be',
  twice: '200 with the id named twice',
  deep: '200 with JSON nested 100,000 deep',
  trickle: '200 whose body comes a byte a second',
  headers: '200 with 64 KiB of headers',
  flood: '200 with 64 MiB of body',
  bomb: '200 with 64 MiB of body in 64 KiB of gzip',
} as const satisfies Record<string, string>;
export type Face = keyof typeof FACES;

/** Where an answer can be bad: at Queue Run before there is a run, at Queue Run when there is one, at Get Run. */
const PLACES = {
  request: 'at Queue Run, and no run is created',
  answer: 'at Queue Run, after the run was created',
  read: 'at Get Run',
} as const;
type Place = keyof typeof PLACES;

const OTHERS = {
  busy: 'Queue Run answers 429 with Retry-After: 1, and creates no run',
  'busy-silent': 'Queue Run answers 429 without Retry-After',
  'busy-date': 'Queue Run answers 429 with a date 2 s ahead',
  'busy-absurd': 'Queue Run answers 429 with Retry-After: 99999999',
  'busy-answer': 'Queue Run creates the run and answers 429 with Retry-After: 1 all the same',
  'no-credits': 'Queue Run answers 403: not enough credits',
  'slow-answer': 'Queue Run creates the run and answers 5 s later',
  twin: 'Queue Run creates two runs for one order, and tells of the first',
  fail: 'the run ends failed half way, without outputs',
  preempt: 'the container is taken away half way, once: the run waits again and begins anew',
  oom: 'the container is killed half way without a word: the run stays running',
  stuck: 'the container dies while it boots without a word: the run stays queued',
  hang: 'the run never comes to its end, until its time-out',
  'no-output': 'the run succeeds without a file',
  'late-output': 'Get Run shows the outputs of a success only 2 s later',
  'lose-webhook': 'a webhook is never sent',
  'repeat-webhook': 'a webhook is sent twice',
  'empty-webhook': 'the webhook of a success carries no outputs',
  'delay-webhook': 'a webhook is sent 3 s later, so that others overtake it',
  'stray-webhook': 'a webhook names a run that is not there',
  'lie-webhook': 'a webhook says success whatever the run does',
  'post-retries': 'a webhook is tried again by POST, not by GET',
  'lose-file': 'a file is not found, at that try',
  'away-file': 'the host of a file answers 503, at that try',
  'private-file': 'the addresses of the files expire an hour after they were shown',
  'cut-file': 'the connection is cut in the middle of a file, at that try',
  'short-file': 'a file is shorter than its Content-Length, at that try',
  'changed-file': 'a file has other bytes at each try',
  'script-file': 'a file is a page with a script instead of a picture',
  'wild-name': 'the files are named ../../escape.png',
  'short-page': 'the run list of a workflow gives at most 100 runs a page, whatever is asked for',
  vanish: 'Get Run does not find the run, at that try',
  'other-run': "Get Run shows another run's id, at that try",
  backwards: 'Get Run shows an earlier status, at that try',
  'unknown-status': 'Get Run shows a status that nobody knows, at that try',
  'extra-fields': 'Get Run shows fields that nobody knows',
  'cut-dates': 'Get Run shows its dates without seconds',
} as const satisfies Record<string, string>;

export type Fault = keyof typeof OTHERS | `${Face}-${Place}`;

const spread = <Key extends string>(
  table: Readonly<Record<Key, string>>,
): readonly (readonly [Key, string])[] => Object.entries(table) as [Key, string][];

/** What each fault does, by its name. */
const FAULT_TABLE: Readonly<Record<string, string>> = {
  ...OTHERS,
  ...Object.fromEntries(
    spread(PLACES).flatMap(([place, where]) =>
      spread(FACES).map(([face, what]) => [`${face}-${place}`, `${what}, ${where}`]),
    ),
  ),
};

/** The names of all known faults. */
const FAULTS: readonly string[] = Object.keys(FAULT_TABLE);

/** The input by which a run names faults that inject it, with spaces between. */
export const FAULT_INPUT = 'runsheet_faults';

/** A run as far as faults care: `faults` are those that it named itself. */
export type Victim = { readonly number: number; readonly faults?: string };

export type Faults = {
  /** Whether the fault shouldInject the run; `occasion` tells apart several moments of one run. */
  shouldInject(fault: Fault, target: Victim, occasion?: string | number): boolean;
  /** The face that the answer wears at this place; undefined where it is an honest one. */
  faceAt(place: Place, target: Victim, occasion?: string | number): Face | undefined;
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
  const counts: Record<string, number> = {};
  const set = (wanted: Readonly<Record<string, number>>): void => {
    for (const [name, rate] of Object.entries(wanted)) check(name, rate);
    Object.assign(rates, wanted);
    isPeaceful = Object.values(rates).every((rate) => rate === 0);
  };
  // Most services never do wrong, and every answer asks dozens of times.
  let isPeaceful = true;
  set(given);

  function shouldInject(
    fault: Fault,
    { number, faults = '' }: Victim,
    occasion: string | number = '',
  ): boolean {
    if (isPeaceful && faults === '') return false;
    const rate = rates[fault] ?? 0;
    const named = faults !== '' && faults.split(' ').includes(fault);
    if (!named && (rate === 0 || chance(seed, fault, number, occasion) >= rate)) return false;
    counts[fault] = (counts[fault] ?? 0) + 1;
    return true;
  }

  return {
    shouldInject,
    faceAt: (place, target, occasion) =>
      isPeaceful && !target.faults
        ? undefined
        : faces.find((face) => shouldInject(`${face}-${place}` as const, target, occasion)),
    rates: () => ({ ...rates }),
    set,
    counts: () => ({ ...counts }),
  };
}

const faces = Object.keys(FACES) as Face[];

/** The faults that a run's inputs name, or the name that is none. */
export function namedFaults(inputs: Readonly<Record<string, unknown>>): { faults: string; unknown?: string } {
  const given = inputs[FAULT_INPUT];
  const names = typeof given === 'string' ? given.split(/[\s,]+/).filter(Boolean) : [];
  const unknown = names.find((name) => !FAULTS.includes(name));
  return { faults: names.join(' '), ...(unknown === undefined ? {} : { unknown }) };
}

/** What helps who named a fault that is none. */
export function faultHint(name: string): string {
  const near = nearest(name, FAULTS);
  const families = `${Object.keys(OTHERS).join(' ')}, and FACE-${Object.keys(PLACES).join(' FACE-')} with FACE one of ${faces.join(' ')}`;
  return `${near === undefined ? '' : `did you mean ${near}? `}faults: ${families}`;
}

function check(name: string, rate: number): void {
  if (!FAULTS.includes(name))
    throw problem('E602', { what: `there is no fault "${name}"`, hint: faultHint(name) });
  if (!(rate >= 0 && rate <= 1)) {
    throw problem('E602', { what: `the rate of the fault "${name}" is ${rate}`, hint: 'rates are 0 to 1' });
  }
}
