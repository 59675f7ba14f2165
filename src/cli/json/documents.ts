// JSON documents of commands, other than batches, rows and plans.

import { z } from 'zod';
import type { MigrationFacts, RuleFinding } from '../../service-client/migration/rules.ts';
import { SERVER_KINDS } from '../../options/facts/server-kind.ts';
import { amount, count, shaped, time, type ShapedFields, timeOf } from './shape.ts';
import { PRICE_UNITS, type Deployment } from '../../service-client/contract/deployment.ts';
import type { Pool } from '../../temporal/temporal-pools.ts';
import { outcomesSchema } from './batch-json.ts';

export const serviceSchema = z.object({
  base: z.string(),
  tokens: z.array(z.string()).describe('the keys that this command made'),
  live_page: z.string().nullable(),
});

/** `dev`. */
export const serversSchema = z.object({
  address: z.string(),
  namespace: z.string(),
  receiver: z.string().nullable(),
  service: z.string().nullable(),
  live_page: z.string().nullable(),
});

/** An element of the array that `doctor` prints. */
export const checkSchema = z.object({
  part: z.string(),
  ok: z.boolean(),
  message: z.string(),
  hint: z.string().nullable(),
});

/** An element of the array that `service servers` prints. */
export const knownServerSchema = z.object({
  url: z.string(),
  kind: z.enum(SERVER_KINDS),
  gpu: z.string().nullable().describe('null: not known yet'),
  also: z.array(z.string()).describe('other addresses that lead to it'),
  runs: count.describe('how many runs it has now'),
  away: z.string().nullable().describe('why it takes no runs now; null if it does'),
});

export const cleanupSchema = z.object({
  removed: z.boolean().describe('false without --yes: nothing was removed'),
  paths: z.array(z.string()).describe('what was removed, or would be'),
  kept: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe('old batches of pipelines that still need them'),
  failed: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe('what cannot be removed, or cannot be read'),
});

export const logSchema = z.object({
  run_id: z.string(),
  lines: z.array(z.object({ at: time, level: z.string(), message: z.string() })),
});

export const verificationSchema = z.object({
  batch: z.string(),
  holds: z.boolean(),
  lists_checked: z.boolean().describe('whether the run list of the service was compared'),
  lists_unread: z.string().nullable().describe('why the run list of the service could not be read'),
  findings: z.array(z.object({ claim: z.string(), holds: z.boolean(), message: z.string() })),
});

export const migrationSchema = z.object({
  base: z.string(),
  api: z.enum(['v1', 'v2']),
  sound: z.boolean().describe('no rule is broken'),
  machine: z.object({ version: z.string().nullable(), type: z.string().nullable() }),
  check: z.object({
    kind: z.enum(['left-out', 'refused', 'unconfirmed', 'ended', 'abandoned']),
    why: z.string().nullable(),
    reason: z.string().nullable(),
    run_id: z.string().nullable(),
    outcome: z.string().nullable(),
    seconds: amount.nullable(),
    was_cancelled: z.boolean().nullable(),
  }),
  rules: z.array(
    z.object({
      rule: count,
      about: z.string(),
      verdict: z.string(),
      found: z.string(),
      todo: z.string().nullable(),
    }),
  ),
});

export function migrationJson(
  { check, ...facts }: MigrationFacts,
  rules: readonly RuleFinding[],
  sound: boolean,
): z.infer<typeof migrationSchema> {
  const shown: ShapedFields<z.infer<typeof migrationSchema>['check']> = {
    ...check,
    ...('runId' in check && { run_id: check.runId }),
    ...('wasCancelled' in check && { was_cancelled: check.wasCancelled }),
  };
  return shaped(migrationSchema, { ...facts, sound, check: shown, rules });
}

const sides = <S extends z.ZodType>(schema: S) => z.object({ a: schema, b: schema });

export const comparisonSchema = z.object({
  a: z.string(),
  b: z.string(),
  by: z.enum(['key', 'inputs']),
  page: z.string(),
  pairs: count,
  identical: count.describe('pairs with the same files and texts'),
  outcome_differs: count,
  only: sides(count).describe('rows without a partner'),
  verdict: z.string().nullable(),
  succeeded: count.describe('pairs that succeeded in both'),
  reused: sides(count).describe('successful pairs whose result another batch bought'),
  measured: count.describe('successful pairs with times in both; the following sums are about them'),
  run_seconds: sides(amount),
  cost_usd: sides(amount.nullable()),
  speed_ratio: amount.nullable().describe('run seconds of a by those of b: above 1, b is faster'),
  cost_ratio: amount.nullable().describe('cost of b by that of a: above 1, b is dearer'),
  gpu: sides(z.string().nullable()).describe('of all measured pairs, if it is the same one'),
});

export const deploymentSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  gpu: z.string().nullable().describe('a deployment with a GPU ignores the one that a row asks for'),
  concurrency_limit: amount.nullable(),
  time_limit_seconds: amount.nullable(),
  version_id: z.string().nullable(),
  price: z
    .object({ per: z.enum(PRICE_UNITS), usd: amount.nullable() })
    .nullable()
    .describe('of a run, a second, or an output file; null if it is not known'),
  inputs: z
    .array(
      z.object({
        input: z.string(),
        type: z.string(),
        required: z.boolean(),
        default: z.unknown().nullable(),
        min: amount.nullable(),
        max: amount.nullable(),
        options: z.array(z.string()).nullable(),
      }),
    )
    .nullable()
    .describe('null: the service does not describe them'),
  batches: count.describe('batches of it in the folder of the batches'),
  program: z
    .object({
      command: z.string(),
      stays: z.boolean().describe('one process for each GPU executes one run after another'),
      folder: z.string(),
      files: z.array(z.object({ path: z.string(), sha256: z.string(), edit: z.string().nullable() })),
      environment: z.array(z.string()).describe('names of the variables that were kept'),
      secrets: z.array(z.string()).describe('names of the variables that are not kept'),
    })
    .nullable()
    .describe('a program of this user; null for any other deployment, and in the list'),
});

export const deploymentJson = (
  { concurrencyLimit, runTimeoutSeconds, versionId, inputTypes, ...deployment }: Omit<Deployment, 'servers'>,
  batches: number,
  program?: ShapedFields<NonNullable<z.output<typeof deploymentSchema>['program']>>,
): z.infer<typeof deploymentSchema> =>
  shaped(deploymentSchema, {
    ...deployment,
    concurrency_limit: concurrencyLimit,
    time_limit_seconds: runTimeoutSeconds,
    version_id: versionId,
    inputs: inputTypes?.map(({ name, ...input }) => ({ input: name, ...input })),
    batches,
    program,
  });

export const poolSchema = z.object({
  pool: z.string(),
  size: count,
  batches: count,
  used: count,
  charged: count.describe('slots that it counts as taken'),
  turned_away: count
    .nullable()
    .describe('batches that wait without slots, because the pool has no room for them'),
  members: z.array(
    z.object({
      batch: z.string(),
      mark: z.string(),
      weight: count,
      urgency: count,
      granted: count,
      used: count,
      wanted: count,
      charged: count,
      gone_at: time.nullable().describe('when it ended without giving its slots back'),
      free_at: time.nullable().describe('when these slots are free at the latest'),
    }),
  ),
});

export const poolJson = ({ members, turnedAway, ...pool }: Pool): z.infer<typeof poolSchema> =>
  shaped(poolSchema, {
    ...pool,
    turned_away: turnedAway ?? null,
    members: members.map(({ goneAt, freeAt, ...member }) => ({
      ...member,
      gone_at: goneAt === undefined ? null : timeOf(goneAt),
      free_at: freeAt === undefined ? null : timeOf(freeAt),
    })),
  });

export const scheduleSchema = z.object({
  schedule: z.string(),
  cron: z.string(),
  words: z.string().describe('the rule in words'),
  timezone: z.string(),
  state: z.enum(['active', 'paused']),
  note: z.string().nullable().describe('why it is paused'),
  next: z.array(time),
  sheet: z.string(),
  deployment: z.string(),
  out: z.string(),
  overlap: z.enum(['skip', 'buffer', 'cancel']),
  catchup_seconds: amount,
  reuse: z.boolean(),
  fired: count,
  skipped: count,
  missed: count,
  firings: z.array(
    z.object({
      time,
      started_at: time,
      batch: z.string(),
      state: z.enum(['running', 'done', 'failed', 'cancelled', 'unknown']),
      reason: z.string().nullable(),
      rows: count.nullable(),
      reused: count.nullable(),
      outcomes: outcomesSchema.nullable(),
      cost_usd: amount.nullable(),
    }),
  ),
  how: z
    .enum(['created', 'changed', 'unchanged'])
    .nullable()
    .describe('what schedule create did; null from other commands'),
});

export const triggerSchema = z.object({ schedule: z.string(), batches: z.array(z.string()) });

export const appliedSchema = z.object({
  schedules: z.array(
    z.object({
      schedule: z.string(),
      how: z.enum(['created', 'changed', 'unchanged', 'deleted', 'left']),
      changes: z.array(z.string()),
    }),
  ),
});
