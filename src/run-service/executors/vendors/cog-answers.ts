// The answers of a Cog container: its health, and what a request for a prediction has come to.

import { z } from 'zod';
import type { RunEnd, Submitted } from '../backend.ts';
import { BLOCKED_MS, jsonIn, shown, type ServerAnswer } from '../http.ts';
import { madeIn } from './answer-files.ts';
import { submittedOf, vendorReason } from './vendor-answers.ts';

/** Somebody else uses the container, or it still ends a prediction. */
const FULL_MS = 1_000;
const STARTING_MS = 2_000;
export const STATUS = { inFlight: 202, atCapacity: 409, notReady: 503 };

export const healthSchema = z.looseObject({
  status: z.string(),
  setup: z.looseObject({ logs: z.string().nullish() }).nullish(),
  version: z.looseObject({ cog: z.string(), python_sdk: z.string(), coglet: z.string() }).partial().nullish(),
});
const predictionSchema = z.looseObject({
  status: z.string(),
  output: z.unknown().optional(),
  error: z.string().nullish().catch(undefined),
  metrics: z.looseObject({ predict_time: z.number() }).partial().nullish().catch(undefined),
});
type Prediction = z.output<typeof predictionSchema>;

/** The end of a prediction, or why there is none. */
export type Outcome = { readonly kind: 'ended'; readonly end: RunEnd; readonly output: unknown } | Submitted;

type Busy = Extract<Submitted, { kind: 'busy' }>;
const full = (reason: string): Busy => ({ kind: 'busy', why: 'full', afterMs: FULL_MS, reason });
const starting = (reason: string): Busy => ({ kind: 'busy', why: 'starting', afterMs: STARTING_MS, reason });

/** Why the container takes no prediction now; undefined if it may take one. */
export function busyBy({ status, setup }: z.output<typeof healthSchema>): Busy | undefined {
  if (status === 'BUSY') return full('it is busy');
  if (status === 'STARTING') return starting('its setup() has not finished');
  if (status === 'UNHEALTHY') return starting('its healthcheck() says that it is not well');
  if (status !== 'SETUP_FAILED' && status !== 'DEFUNCT') return undefined;
  const said = shown(setup?.logs?.trimEnd().split('\n').at(-1) ?? '');
  const reason = `${status === 'DEFUNCT' ? 'its model has stopped' : 'its setup() failed'}; it said: ${said}`;
  return { kind: 'busy', why: 'blocked', afterMs: BLOCKED_MS, reason };
}

export function outcomeOf(answer: ServerAnswer, id: string): Outcome {
  const { status } = answer;
  const reason = vendorReason(answer);
  if (status === STATUS.inFlight)
    return { kind: 'busy', afterMs: FULL_MS, reason: 'it still executes this run, whose answer was lost' };
  if (status === STATUS.atCapacity) return full(reason);
  if (status === STATUS.notReady) return starting(reason);
  const prediction = status === 200 ? predictionSchema.safeParse(jsonIn(answer.text)).data : undefined;
  const end = prediction && endOf(prediction, id);
  if (end === undefined) return submittedOf(answer, () => undefined);
  return { kind: 'ended', end, output: prediction?.output };
}

function endOf({ status, output, error, metrics }: Prediction, id: string): RunEnd | undefined {
  const seconds = metrics?.predict_time;
  const ranMs = seconds === undefined ? undefined : seconds * 1_000;
  if (status === 'succeeded') return { status: 'success', ranMs, made: madeIn(output, id) };
  if (status === 'failed') return { status: 'failed', ranMs, reason: error || 'it failed without a reason' };
  return status === 'canceled' ? { status: 'interrupted', ranMs } : undefined;
}

/** The end that an answer reports, even if it came after the request had counted as accepted; undefined if the run is lost. */
export function endBy(outcome: Outcome): RunEnd | undefined {
  const ranMs = undefined;
  if (outcome.kind === 'ended') return outcome.end;
  if (outcome.kind === 'refused')
    return { status: 'failed', ranMs, reason: `failed validation: ${outcome.reason}` };
  if (outcome.kind !== 'busy') return undefined;
  const { reason, afterMs } = outcome;
  return { status: 'postponed', ranMs, reason: `it takes no runs: ${reason}`, afterMs };
}
