// The faults that the service can inject, each with a rate. The decision depends on the seed, the fault's
// name and the run number, so that a rehearsal can be repeated, although a retry of a row may still succeed.
// A run can also request faults in one of its inputs, whatever the rates are.

import { nearest, problem } from '../errors/error.ts';
import { didYouMean, sentences } from '../errors/entry.ts';
import { chance } from './chance.ts';

export const MALFORMED_RESPONSES = {
  drop: 'the connection is closed without an answer',
  reset: 'the connection is reset',
  silence: 'the request is never answered',
  head: 'the connection is cut in the middle of the headers',
  interim: '103 Early Hints, then no answer',
  error: '500 in plain text',
  gateway: "502 with a gateway's HTML page",
  garbage: '200 with a body that is not JSON',
  truncated: '200 with JSON that ends too early',
  short: '200 with a Content-Length larger than the body',
  nan: '200 with NaN instead of the id',
  twice: '200 with the id key twice',
  deep: '200 with JSON nested 100,000 deep',
  trickle: '200 with one byte of the body per second',
  headers: '200 with 64 KiB of headers',
  flood: '200 with 64 MiB of body',
  bomb: '200 with 64 MiB of body compressed to 64 KiB',
} as const satisfies Record<string, string>;
export type MalformedResponse = keyof typeof MALFORMED_RESPONSES;

/** Where a response can be malformed: at Queue Run before or after a run was created, or at Get Run. */
const PLACES = {
  request: 'at Queue Run, without creating a run',
  answer: 'at Queue Run, after the run was created',
  read: 'at Get Run',
} as const;
type MalformedPlace = keyof typeof PLACES;

const OTHER_FAULTS = {
  busy: 'Queue Run answers 429 with Retry-After: 1 and creates no run',
  'busy-silent': 'Queue Run answers 429 without Retry-After',
  'busy-date': 'Queue Run answers 429 with a date 2 s ahead',
  'busy-absurd': 'Queue Run answers 429 with Retry-After: 99999999',
  'busy-answer': 'Queue Run creates the run but answers 429 with Retry-After: 1',
  'no-credits': 'Queue Run answers 403: not enough credits',
  'slow-answer': 'Queue Run creates the run and answers 5 s later',
  twin: 'Queue Run creates two runs for one request and returns the first',
  fail: 'the run fails half way, without outputs',
  preempt: 'the container is preempted half way, once: the run is queued again and restarts',
  oom: 'the container is killed half way without notice: the run stays running',
  stuck: 'the container dies during boot without notice: the run stays queued',
  hang: 'the run does not end before its time-out',
  'no-output': 'the run succeeds without output files',
  'late-output': 'Get Run shows the outputs of a succeeded run 2 s late',
  'lose-webhook': 'a webhook is never sent',
  'repeat-webhook': 'a webhook is sent twice',
  'empty-webhook': 'the webhook of a succeeded run has no outputs',
  'delay-webhook': 'a webhook is sent 3 s late, after others',
  'stray-webhook': 'a webhook names a run that does not exist',
  'lie-webhook': 'a webhook says success, whatever the status of the run is',
  'post-retries': 'a webhook is retried with POST instead of GET',
  'lose-file': 'a file answers 404, drawn for each request',
  'slow-file': 'a file arrives at 200 bytes a second, drawn for each request',
  'away-file': 'a file answers 503, drawn for each request',
  'private-file': 'the addresses of files expire an hour after Get Run showed them',
  'cut-file': 'the connection breaks in the middle of a file, drawn for each request',
  'short-file': 'a file is shorter than its Content-Length, drawn for each request',
  'changed-file': 'a file has different bytes at each request',
  'script-file': 'a file is an HTML page with a script instead of a picture',
  'wild-name': 'the files are named ../../escape.png',
  'short-page': 'the run list of a workflow has at most 100 runs per page, whatever the limit',
  vanish: 'Get Run answers 404, drawn for each request',
  'other-run': "Get Run shows another run's id, drawn for each request",
  backwards: 'Get Run shows an earlier status, drawn for each request',
  'unknown-status': 'Get Run shows an undocumented status, drawn for each request',
  'extra-fields': 'Get Run shows undocumented fields',
  'cut-dates': 'Get Run shows dates without seconds',
} as const satisfies Record<string, string>;

export type Fault = keyof typeof OTHER_FAULTS | `${MalformedResponse}-${MalformedPlace}`;

const spread = <Key extends string>(
  table: Readonly<Record<Key, string>>,
): readonly (readonly [Key, string])[] => Object.entries(table) as [Key, string][];

const FAULT_TABLE: Readonly<Record<string, string>> = {
  ...OTHER_FAULTS,
  ...Object.fromEntries(
    spread(PLACES).flatMap(([place, where]) =>
      spread(MALFORMED_RESPONSES).map(([response, what]) => [`${response}-${place}`, `${what}, ${where}`]),
    ),
  ),
};

export const FAULTS: readonly string[] = Object.keys(FAULT_TABLE);

/** The input in which a run requests faults, separated by spaces. */
export const FAULT_INPUT = 'runsheet_faults';

/** The fields of a run that decide about faults; `faults` are those that the run requests. */
export type FaultTarget = {
  readonly number: number;
  readonly deploymentId: string;
  readonly faults?: string;
};

type FaultOptions = {
  readonly seed: number;
  /** Whether real GPUs execute a deployment. Its runs have no faults, whatever the rates are. */
  readonly isReal: (deploymentId: string) => boolean;
};

/** Throws E602 for an unknown name, with a suggestion, and for a rate outside 0 to 1. */
export function createFaults(initialRates: Readonly<Record<string, number>>, { seed, isReal }: FaultOptions) {
  const rates: Record<string, number> = {};
  const counts: Record<string, number> = {};
  /** Changes the named rates from now on. Throws like {@link createFaults}. */
  const set = (wanted: Readonly<Record<string, number>>): void => {
    for (const [name, rate] of Object.entries(wanted)) check(name, rate);
    Object.assign(rates, wanted);
    areRatesZero = Object.values(rates).every((rate) => rate === 0);
  };
  // A fast path, because most services have no faults and every answer checks dozens of them.
  let areRatesZero = true;
  set(initialRates);

  /** Whether to inject the fault into the run; `occasion` distinguishes several requests about one run. */
  function shouldInject(fault: Fault, target: FaultTarget, occasion: string | number = '') {
    const { number, deploymentId, faults = '' } = target;
    if ((areRatesZero && faults === '') || isReal(deploymentId)) return false;
    const rate = rates[fault] ?? 0;
    // A rate that was set to 0 also disables faults that runs request.
    const named = faults !== '' && rates[fault] !== 0 && faults.split(' ').includes(fault);
    if (!named && (rate === 0 || chance(seed, fault, number, occasion) >= rate)) return false;
    counts[fault] = (counts[fault] ?? 0) + 1;
    return true;
  }

  return {
    shouldInject,
    /** The malformed response at this place; undefined for a normal one. */
    malformedAt: (
      place: MalformedPlace,
      target: FaultTarget,
      occasion?: string | number,
    ): MalformedResponse | undefined =>
      areRatesZero && !target.faults
        ? undefined
        : malformedResponses.find((response) =>
            shouldInject(`${response}-${place}` as const, target, occasion),
          ),
    rates: () => ({ ...rates }),
    set,
    counts: () => ({ ...counts }),
  };
}
export type Faults = ReturnType<typeof createFaults>;

const malformedResponses = Object.keys(MALFORMED_RESPONSES) as MalformedResponse[];

/** The faults that a run's inputs request, or the first unknown name. */
export function namedFaults(inputs: Readonly<Record<string, unknown>>): { faults: string; unknown?: string } {
  const requested = inputs[FAULT_INPUT];
  const names = typeof requested === 'string' ? requested.split(/[\s,]+/).filter(Boolean) : [];
  const unknown = names.find((name) => !FAULTS.includes(name));
  return { faults: names.join(' '), ...(unknown === undefined ? {} : { unknown }) };
}

export function faultHint(name: string): string {
  const families = `${Object.keys(OTHER_FAULTS).join(' ')}, and <response>-${Object.keys(PLACES).join(' <response>-')} with <response> one of ${malformedResponses.join(' ')}`;
  return sentences(didYouMean(nearest(name, FAULTS)), `faults: ${families}`);
}

function check(name: string, rate: number): void {
  if (!FAULTS.includes(name))
    throw problem('E602', { what: `there is no fault "${name}"`, hint: faultHint(name) });
  if (!(rate >= 0 && rate <= 1)) {
    throw problem('E602', {
      what: `the rate of the fault "${name}" is ${rate}`,
      hint: 'a rate is a number from 0 to 1',
    });
  }
}
