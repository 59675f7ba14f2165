// What one command each prints as JSON, most of them about servers and the machine.

import { z } from 'zod';
import type { Facts, Finding } from '../../run-service/migration/rules.ts';
import { amount, count, shaped, time, type Given } from './shape.ts';

export const serviceSchema = z.object({
  base: z.string(),
  tokens: z.array(z.string()).describe('the keys that this command made'),
  live_page: z.string().nullable(),
});

/** `dev`. */
export const serversSchema = z.object({
  address: z.string(),
  namespace: z.string(),
  ui_url: z.string().nullable(),
  receiver: z.string().nullable(),
  service: z.string().nullable(),
  live_page: z.string().nullable(),
});

/** `doctor` prints an array of them. */
export const checkSchema = z.object({
  part: z.string(),
  ok: z.boolean(),
  message: z.string(),
  hint: z.string().nullable(),
});

export const cleanupSchema = z.object({
  removed: z.boolean().describe('false without --yes: nothing was removed'),
  paths: z.array(z.string()).describe('what was removed, or would be'),
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
  { check, ...facts }: Facts,
  rules: readonly Finding[],
  sound: boolean,
): z.infer<typeof migrationSchema> {
  const shown: Given<z.infer<typeof migrationSchema>['check']> = {
    ...check,
    ...('runId' in check && { run_id: check.runId }),
    ...('wasCancelled' in check && { was_cancelled: check.wasCancelled }),
  };
  return shaped(migrationSchema, { ...facts, sound, check: shown, rules });
}
