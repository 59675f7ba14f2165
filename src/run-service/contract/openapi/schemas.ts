// The named schemas of the document, for one behaviour.

import { z } from 'zod';
import { queueRequestSchemaFor } from '../queue.ts';
import * as answers from '../shown/answers.ts';
import * as logs from '../shown/files-and-logs.ts';
import * as refusals from '../shown/refusals.ts';
import {
  lightRowShown,
  listedRunShown,
  outputShown,
  runPageShown,
  runShown,
  v1RunShown,
} from '../shown/run.ts';
import type { Dialect } from './operation.ts';

const scalarOrList = z.union([z.string(), z.number(), z.boolean(), z.array(z.unknown())]);

/** The document contains each named schema once. */
export function schemasFor(dialect: Dialect) {
  const gpu = z
    .enum(dialect.gpus)
    .nullable()
    .meta({ description: runShown.shape.gpu.description ?? '' });
  const hidden = dialect.showsWorkflowApi ? {} : ({ workflow_api: true } as const);
  return {
    Run: runShown.extend({ gpu }).omit(hidden),
    ListedRun: listedRunShown.extend({ gpu }),
    RunPage: runPageShown,
    LightRow: lightRowShown.extend({ gpu }),
    V1Run: v1RunShown.extend({ gpu }),
    Output: outputShown,
    Order: orderFor(dialect),
    V1Order: freeOrderFor(dialect),
    QueueAnswer: answers.queueAnswerShown,
    CancelAnswer: answers.cancelAnswerShown,
    Webhook: answers.webhookShown,
    Deployment: answers.deploymentShown,
    Pricing: answers.pricingShown,
    Profile: answers.profileShown,
    Upload: logs.uploadShown,
    V1UploadUrl: logs.v1UploadUrlShown,
    Log: logs.logShown,
    LogLine: logs.logLineShown,
    Sentence: refusals.sentenceShown,
    ValidationFailure: refusals.validationShown,
    V1Error: refusals.v1ErrorShown,
    V1NotFound: refusals.v1NotFoundShown,
  };
}
export type Schemas = ReturnType<typeof schemasFor>;

/** The unparsed body of V1, whose inputs may contain anything. */
const freeOrderFor = ({ gpus }: Dialect) => queueRequestSchemaFor(gpus).in;

/** The same of Queue Run. */
function orderFor(dialect: Dialect) {
  const order = freeOrderFor(dialect);
  if (dialect.freeFormInputs) return order;
  return order.extend({
    inputs: z
      .record(z.string(), scalarOrList)
      .default({})
      .meta({ description: 'the inputs of the run, by name: texts, numbers, booleans and lists' }),
  });
}
