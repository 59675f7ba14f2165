// A batch as JSON, with the same shape from every command and in every state.

import { z } from 'zod';
import { NO_OUTCOMES, OUTCOMES } from '../../batch/outcome.ts';
import { PAUSE_KINDS } from '../../batch/pausing/pause-kinds.ts';
import type { BatchStatus as PublishedStatus, ShownProgress } from '../../library/handle/batch-status.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import type { CanaryReport } from '../../results/estimate.ts';
import { estimateSchema } from './plan-json.ts';
import type { AwayServer, UnansweredRuns } from '../../library/register-own-gpus.ts';
import {
  amount,
  count,
  shaped,
  time,
  timeOf,
  type ShapedFields,
  limitsOf,
  limitsSchema,
  changesOf,
} from './shape.ts';
import { gpuUse } from '../../results/summary.ts';
import { knownCost, withCosts } from '../../options/facts/prices.ts';
import type { ShownRow } from '../../results/batch-rows.ts';
import type { ShownEvent } from '../../library/handle/ended-rows.ts';
import { rounded, usdOf } from '../../options/text/printed-numbers.ts';

// The progress that a batch's workflow published, as JSON; null if no server has the batch.
const requestsSchema = z.object({
  sent: count,
  accepted: count,
  rejected: count,
  throttled: count,
  blocked: count,
  unconfirmed: count,
  adopted: z.object({ webhook: count, list: count }),
  absent: count,
  unknown: count,
  resubmitted: count,
  failed: count,
  duplicates: count,
});

const gpusSchema = z.record(
  z.string(),
  z.object({ runs: count, seconds: amount, cost_usd: amount.nullable() }),
);

const someGpu = z.string().nullable();
const usefulFields = { concurrency: count, basis: z.enum(['found', 'searching', 'untimed']) };

const progressSchema = z.object({
  pass: count,
  done: count.describe('rows with an outcome whose files are stored'),
  collecting: count.describe('rows with an outcome whose files are not stored yet'),
  sending: count,
  running: count,
  unconfirmed: count,
  retrying: count.describe('rows that wait for their next attempt'),
  unsent: count,
  again: count.describe('rows that had an outcome and are sent again'),
  reused: count,
  limits: limitsSchema,
  slots: count.nullable().describe('with -c auto: how many runs may be in flight now'),
  granted: count.nullable().describe('in a pool: the slots that it has granted'),
  by_gpu: z
    .array(z.object({ gpu: z.string().nullable(), outstanding: count, waiting: count, unsent: count }))
    .describe('by the GPU that rows ask for; null: the GPU of the deployment'),
  useful_concurrency: z.array(z.object({ gpu: someGpu, ...usefulFields })).nullable(),
  gpus: gpusSchema.describe('what runs have used so far'),
  requests: requestsSchema,
  budget: z.object({ spent_usd: amount, reserved_usd: amount, is_estimate: z.boolean() }).nullable(),
  ladder: z.array(z.object({ size: count, gpu: z.string(), is_proven: z.boolean() })).nullable(),
  canary: z.object({ rows: count, ended: count, gate: z.string() }).nullable(),
  last_failure: z.object({ row: count, outcome: z.enum(OUTCOMES), reason: z.string().nullable() }).nullable(),
});

function progressOf(shown: ShownProgress): ShapedFields<z.infer<typeof progressSchema>> {
  const {
    useful,
    byGpu,
    tally,
    unpriced,
    ledger,
    budget,
    ladder,
    lastFailure,
    again = 0,
    reused = 0,
  } = shown;
  return {
    ...shown,
    again,
    reused,
    limits: limitsOf(shown),
    by_gpu: byGpu ?? [],
    useful_concurrency: useful,
    gpus: gpuUse(tally, unpriced),
    requests: ledger,
    budget: budget && {
      spent_usd: usdOf(budget.spentNano),
      reserved_usd: usdOf(budget.reservedNano),
      is_estimate: budget.isEstimate ?? false,
    },
    ladder: ladder?.map(({ size, gpu, isProven }) => ({ size, gpu, is_proven: isProven })),
    last_failure: lastFailure,
  };
}

export const outcomesSchema = z.record(z.enum(OUTCOMES), count);

/** The content of summary.json. */
const summarySchema = z.object({
  pass: count,
  reused: count,
  refused: z
    .array(z.object({ row: count, key: z.string(), reason: z.string() }))
    .nullable()
    .describe('the first ten refused rows: not readable in the sheet, or refused by the service'),
  runs: count,
  bought_twice: count,
  started_at: time,
  ended_at: time,
  seconds: amount,
  cost_usd: amount.nullable(),
  total_cost_usd: amount.nullable().describe('with duplicate runs'),
  idle: z
    .array(z.object({ from: time, to: time }))
    .nullable()
    .describe('when it had ended and was not continued yet; no part of seconds'),
  undelivered: z
    .object({ rows: count, cost_usd: amount.nullable() })
    .nullable()
    .describe('rows whose runs were paid for although their files were not delivered'),
  executed_again: z
    .object({ rows: count, executions: count, seconds: amount })
    .nullable()
    .describe('rows whose run was executed again because its machine was lost, and the seconds in vain'),
  unpriced: count.nullable().describe('attempts whose cost is not known, or only in part'),
  gpus: gpusSchema,
  climbing: z.object({ runs: count, seconds: amount, cost_usd: amount.nullable() }).nullable(),
  useful_concurrency: z
    .array(z.object({ gpu: someGpu, is_default: z.boolean(), ...usefulFields }))
    .nullable(),
  requests: requestsSchema,
  lists: z.enum(['complete', 'incomplete', 'none']),
  duplicates: z.object({
    runs: count,
    gpu_seconds: amount,
    cost_usd: amount.nullable(),
    first: z.array(
      z.object({
        row: count,
        attempt: count,
        run_id: z.string(),
        status: z.string(),
        gpu: z.string().nullable(),
        gpu_seconds: amount,
        cost_usd: amount.nullable(),
      }),
    ),
  }),
  is_evidence_lost: z.boolean(),
  unseen_runs_at_most: count,
  workers: count.nullable(),
  restarts: count.nullable(),
});

export const batchSchema = z.object({
  batch: z.string(),
  folder: z.string(),
  state: z
    .enum(['running', 'paused', 'cancelling', 'finished', 'interrupted', 'unknown', 'unreadable'])
    .describe(
      'interrupted: no server runs it; unknown: the servers that have it could not be asked; unreadable: its files are damaged',
    ),
  deployment: z.string().describe('its name, or its id if it has no name'),
  rehearsal: z.boolean(),
  created_at: time,
  rows: count,
  outcomes: outcomesSchema,
  cost_usd: amount
    .nullable()
    .describe(
      'an estimate of what rows have cost so far; null if it is not known, and like all costs on GPUs without a price',
    ),
  about_cost_usd: amount.nullable().describe('about what all rows will have cost'),
  reason: z.string().nullable().describe('why it is paused or held back'),
  pauses: z.array(z.object({ kind: z.enum(PAUSE_KINDS), reason: z.string(), since: time })),
  was_paused: z
    .array(z.object({ kind: z.enum(PAUSE_KINDS), reason: z.string(), since: time }))
    .describe('the pauses that it had when its servers were lost'),
  held_by: z
    .object({
      home: z.string().nullable().describe('the state folder of embedded servers'),
      address: z.string().nullable(),
      namespace: z.string().nullable(),
      host: z.string(),
      pid: count.nullable(),
      settings: z.record(z.string(), z.string()).describe('of a command that reaches them'),
    })
    .nullable()
    .describe('other servers that have it, which this command does not use'),
  unattended: z.boolean().describe('no worker takes its tasks'),
  trouble: z
    .object({ reason: z.string(), worker: z.string().nullable() })
    .nullable()
    .describe('why its workers cannot do its work, and which one tried last'),
  undelivered_notices: z
    .array(z.object({ at: time, notice: z.string(), reason: z.string() }))
    .describe('notifications that reached nobody, the latest of each kind and target; lists leave them out'),
  away_servers: z
    .array(z.object({ url: z.string(), reason: z.string() }))
    .describe('GPU servers of the batch that take no runs now; lists leave them out'),
  unanswered_runs: z
    .array(z.object({ url: z.string(), runs: count, until: z.iso.datetime() }))
    .describe('runs that their server has neither confirmed nor refused, and by when that is known'),
  from: z.object({ batch: z.string(), pass: count }).nullable(),
  progress: progressSchema.nullable().describe('while a server has the batch'),
  canary: z
    .object({ rows: count, succeeded: count, cost_usd: amount.nullable(), estimate: estimateSchema })
    .nullable(),
  summary: summarySchema.nullable().describe('when it has ended, as in summary.json'),
  fault: z.string().nullable().describe('why its files cannot be read; outcomes are then not counted'),
});

/** A published status with the fields that only commands compute. */
export type BatchStatus = PublishedStatus & {
  /** Estimated total cost, once enough rows have ended. */
  readonly about_cost_usd?: number;
  readonly canary?: CanaryReport;
  readonly awayServers?: readonly AwayServer[];
  readonly unansweredRuns?: readonly UnansweredRuns[];
};

export type BatchJson = z.infer<typeof batchSchema>;

export function batchJson({ file }: Pick<FoundBatch, 'file'>, shown: BatchStatus): BatchJson {
  const { progress, summary, outcomes } = shown;
  const cost =
    progress === undefined
      ? summary === undefined
        ? shown.costUsd
        : summary.cost_usd
      : knownCost(rounded(progress.costUsd), progress.unpriced);
  const fields = withCosts(file.service.prices, {
    ...shown,
    deployment: file.deployment.name ?? file.deployment.id,
    rehearsal: file.service.rehearsal,
    created_at: file.createdAt,
    outcomes: { ...NO_OUTCOMES, ...outcomes },
    cost_usd: cost,
    reason: progress?.reason,
    pauses: (progress?.pauses ?? []).map(({ kind, reason, since }) => ({
      kind,
      reason,
      since: timeOf(since),
    })),
    was_paused: (shown.wasPaused ?? []).map(({ since, ...pause }) => ({ ...pause, since: timeOf(since) })),
    undelivered_notices: (shown.undelivered ?? []).map(({ at, ...notice }) => ({
      ...notice,
      at: timeOf(at),
    })),
    away_servers: shown.awayServers ?? [],
    unanswered_runs: (shown.unansweredRuns ?? []).map(({ url, runs, untilMs }) => ({
      url,
      runs,
      until: timeOf(untilMs),
    })),
    held_by: shown.heldBy,
    unattended: shown.unattended ?? false,
    progress: progress && progressOf(progress),
  });
  return shaped(batchSchema, fields);
}

const attempt = {
  attempt: count,
  outcome: z.string().describe('an outcome, or absent: it was proved that it started no run'),
  reason: z.string().nullable(),
  failure: z.string().nullable().describe('the kind of failure, if the log of the run shows it'),
  run_id: z.string().nullable(),
  gpu_asked: z.string().nullable(),
  gpu_used: z.string().nullable(),
  climbed: z.boolean().nullable(),
  created_at: time.nullable(),
  ended_at: time.nullable(),
  queue_seconds: amount.nullable(),
  cold_start_seconds: amount.nullable(),
  run_seconds: amount.nullable(),
  lost_executions: count.nullable().describe('how often its run was executed in vain before'),
  lost_seconds: amount.nullable(),
  cost_usd: amount.nullable(),
  cost_incomplete: z.boolean().nullable(),
};

export const rowSchema = z.object({
  row: count,
  key: z.string(),
  outcome: z.enum([...OUTCOMES, 'open']).describe('open: it has none yet'),
  reason: z.string().nullable(),
  gpu_asked: z.string().nullable(),
  inputs: z.record(z.string(), z.unknown()),
  attempts: z.array(z.object(attempt)),
  result_attempt: count
    .nullable()
    .describe('the attempt that the result comes from, if later ones did not replace it'),
  files: z.array(
    z.object({
      path: z.string().describe('relative to the folder of the batch'),
      bytes: count,
      sha256: z.string(),
      name: z.string(),
      node: z.string().nullable(),
      title: z.string().nullable().describe('what the owner of the workflow calls the node'),
    }),
  ),
  texts: z.array(z.string()),
  reused_from: z.string().nullable().describe('<batch>#<row> that bought it'),
});

export const rowJson = (row: ShownRow): z.infer<typeof rowSchema> =>
  shaped(rowSchema, {
    ...row,
    reason: row.reason === '' ? null : row.reason,
    texts: row.texts ?? [],
  });

export const attemptSchema = z.object({
  at: time.nullable().describe('when it ended'),
  event: z.literal('attempt'),
  row: count,
  started_at: time.nullable().describe('when its machine began with it'),
  ...attempt,
});

export const eventSchema = z.object({
  at: time,
  event: z.string().describe('created, started, paused, continued, resumed, scaled, …, finished'),
  kind: z.enum(PAUSE_KINDS).nullable().describe('the kind of the pause'),
  by: z.string().nullable().describe('who gave the command'),
  reason: z.string().nullable(),
  note: z.string().nullable().describe('what changed, in words'),
  limits: limitsSchema.partial().nullable().describe('the limits that changed; null removes one'),
});

export const eventJson = ({ limits, ...event }: ShownEvent): z.infer<typeof eventSchema> =>
  shaped(eventSchema, { ...event, limits: limits && changesOf(limits) });
