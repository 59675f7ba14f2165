// A prediction of Replicate: its shape, and the state of its run.

import { z } from 'zod';
import type { RunEnd, Seen } from '../backend.ts';
import { madeIn } from './answer-files.ts';

export const predictionSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.string().nullish().catch(undefined),
  webhook: z.string().nullish(),
  data_removed: z.boolean().nullish(),
  created_at: z.string(),
  metrics: z.looseObject({ predict_time: z.number() }).partial().nullish(),
});
export type Prediction = z.output<typeof predictionSchema>;

export function stateOf(prediction: Prediction): Seen {
  const { id: ref, status } = prediction;
  if (status === 'starting') return { at: 'waiting', ref };
  if (status === 'processing') return { at: 'running', ref };
  const end = endOf(prediction);
  return end === undefined
    ? { at: 'unread', ref, reason: `its status is "${status}"` }
    : { at: 'ended', ref, end };
}

function endOf(prediction: Prediction): RunEnd | undefined {
  const { id, status, output, error, metrics } = prediction;
  const seconds = metrics?.predict_time;
  const ranMs = seconds === undefined ? undefined : seconds * 1_000;
  if (status === 'canceled') return { status: 'interrupted', ranMs };
  if (status === 'aborted') return { status: 'timeout', ranMs };
  if (status === 'failed') return { status: 'failed', ranMs, reason: error || 'it failed without a reason' };
  if (status !== 'succeeded') return undefined;
  return prediction.data_removed === true
    ? { status: 'failed', ranMs, reason: REMOVED }
    : { status: 'success', ranMs, made: madeIn(output, id) };
}

const REMOVED =
  'it succeeded, and Replicate, which keeps an output for an hour, deleted it before it was fetched';
