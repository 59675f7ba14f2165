// Every noun of `-o json` with its schema. The package has them as JSON Schema, and docs/scripting.md explains them.

import type { z } from 'zod';
import { batchSchema, attemptSchema, rowSchema, eventSchema } from '../../src/cli/json/batch-json.ts';
import { pipelineSchema } from '../../src/cli/json/pipeline-json.ts';
import { planSchema } from '../../src/cli/json/plan-json.ts';
import { problemSchema } from '../../src/cli/json/problem.ts';
import {
  checkSchema,
  cleanupSchema,
  logSchema,
  migrationSchema,
  serversSchema,
  serviceSchema,
  verificationSchema,
  comparisonSchema,
  deploymentSchema,
  poolSchema,
  appliedSchema,
  scheduleSchema,
  triggerSchema,
} from '../../src/cli/json/documents.ts';

export const NOUNS = {
  applied: appliedSchema,
  attempt: attemptSchema,
  batch: batchSchema,
  check: checkSchema,
  cleanup: cleanupSchema,
  comparison: comparisonSchema,
  deployment: deploymentSchema,
  event: eventSchema,
  log: logSchema,
  migration: migrationSchema,
  pipeline: pipelineSchema,
  plan: planSchema,
  pool: poolSchema,
  problem: problemSchema,
  row: rowSchema,
  schedule: scheduleSchema,
  servers: serversSchema,
  service: serviceSchema,
  trigger: triggerSchema,
  verification: verificationSchema,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type Noun = keyof typeof NOUNS;
