// The named schemas of the document, for one behaviour.

import { z } from 'zod';
import { queueRequestSchemaFor } from '../queue.ts';
import * as shown from '../shown.ts';

/** The differences between the two behaviours of the local run service. */
export type Dialect = {
  readonly gpus: readonly [string, ...string[]];
  readonly freeFormInputs: boolean;
  readonly showsWorkflowApi: boolean;
};

const scalarOrList = z.union([z.string(), z.number(), z.boolean(), z.array(z.unknown())]);

/** The document contains each named schema once. */
export function schemasFor(dialect: Dialect) {
  const gpu = z
    .enum(dialect.gpus)
    .nullable()
    .meta({ description: shown.runShown.shape.gpu.description ?? '' });
  const hidden = dialect.showsWorkflowApi ? {} : ({ workflow_api: true } as const);
  return {
    Run: shown.runShown.extend({ gpu }).omit(hidden),
    ListedRun: shown.listedRunShown.extend({ gpu }),
    RunPage: shown.runPageShown,
    LightRow: shown.lightRowShown.extend({ gpu }),
    V1Run: shown.v1RunShown.extend({ gpu }),
    Output: shown.outputShown,
    Order: orderFor(dialect),
    V1Order: freeOrderFor(dialect),
    QueueAnswer: shown.queueAnswerShown,
    CancelAnswer: shown.cancelAnswerShown,
    Webhook: shown.webhookShown,
    Deployment: shown.deploymentShown,
    Pricing: shown.pricingShown,
    Profile: shown.profileShown,
    Upload: shown.uploadShown,
    V1UploadUrl: shown.v1UploadUrlShown,
    Log: shown.logShown,
    LogLine: shown.logLineShown,
    Sentence: shown.sentenceShown,
    ValidationFailure: shown.validationShown,
    V1Error: shown.v1ErrorShown,
    V1NotFound: shown.v1NotFoundShown,
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
