// The exact schemas of a run in Get Run and the run lists, in the specification's terms and order.

import { z } from 'zod';
import { STATUSES } from '../statuses.ts';
import { date, dateOrNull, freeForm, secondsOrNull, text, textOrNull, uuid, whole } from './fields.ts';

const status = z.enum(STATUSES).meta({
  description:
    'not-started: waits for a machine; queued: its machine boots; started, running, uploading: running; success, failed, timeout, cancelled: ended (final)',
});

const fileShown = z.strictObject({
  url: z.url().meta({ description: 'the download address; needs no token' }),
  filename: text('unique within its node'),
  type: text('`output`'),
});

export const outputShown = z.strictObject({
  id: uuid('identifier of the output'),
  run_id: uuid('the run that produced it'),
  data: z.record(z.string(), z.array(z.union([fileShown, z.string()]))).meta({
    description: 'files or texts by kind (`images`, `files`, `text`)',
  }),
  node_meta: z.strictObject({
    node_id: text('the node of the workflow'),
    node_class: text('the class of the node'),
  }),
  created_at: date('when the node produced it'),
  updated_at: date('the same'),
  type: z.null(),
  node_id: z.null(),
});

export const runShown = z.strictObject({
  id: uuid('identifier of the run'),
  workflow_version_id: uuid('the version of the workflow that runs'),
  workflow_inputs: freeForm('the inputs exactly as they were queued'),
  workflow_id: uuid('the workflow that runs'),
  workflow_api: freeForm('the workflow itself; empty here'),
  machine_id: uuid('the machine that the deployment belongs to'),
  origin: text('how the run was queued; `api` for every run that Queue Run made'),
  status,
  ended_at: dateOrNull('when it ended; null until then'),
  created_at: date('when it was queued by the client'),
  updated_at: date('when it last changed'),
  queued_at: dateOrNull('when a machine took it; null until then'),
  started_at: dateOrNull('when the machine was ready for it; null until then'),
  gpu_event_id: textOrNull('the container that it runs in; null until it has one'),
  gpu: textOrNull('the GPU that it runs on'),
  machine_version: textOrNull('the version of the machine’s node component, if known'),
  machine_type: textOrNull('the type of the machine'),
  worker_function_call_id: textOrNull(
    'identifier of the call on the executing worker; null until there is one',
  ),
  modal_function_call_id: textOrNull("the same, in the real service's own spelling"),
  user_id: textOrNull('the owner of the token that queued it'),
  org_id: textOrNull('the organisation of the owner'),
  live_status: textOrNull('the current step, such as `Executing KSampler`; remains after the end'),
  progress: z.number().min(0).max(1).meta({ description: 'share of the nodes that have run' }),
  is_realtime: z.boolean().meta({ description: 'always false' }),
  webhook: textOrNull('the webhook target given at queue time'),
  webhook_status: textOrNull('never written by V2: null'),
  webhook_intermediate_status: z.boolean().meta({ description: 'whether the webhook also gets progress' }),
  outputs: z.array(outputShown).meta({ description: 'one element for each node with an output' }),
  number: whole('always 0 in V2'),
  duration: secondsOrNull('from created_at to ended_at'),
  cold_start_duration: secondsOrNull('from queued_at to started_at'),
  cold_start_duration_total: secondsOrNull('from created_at to started_at'),
  run_duration: secondsOrNull('from started_at to ended_at'),
});

/** A run in the list of its workflow: inputs and outputs only on request. */
export const listedRunShown = runShown
  .partial({ workflow_inputs: true, outputs: true })
  .extend({ deployment_id: uuid('the deployment that it was queued for') });

/** A row of the light list of a workflow. */
export const lightRowShown = runShown
  .omit({ workflow_inputs: true, workflow_api: true, outputs: true, webhook: true })
  .extend({ deployment_id: uuid('the deployment that it was queued for'), batch_id: z.null() });

const lightRunShown = runShown
  .pick({
    id: true,
    status: true,
    created_at: true,
    started_at: true,
    ended_at: true,
    workflow_id: true,
    workflow_version_id: true,
    machine_id: true,
    gpu: true,
    origin: true,
    user_id: true,
  })
  .extend({
    deployment_id: uuid('the deployment that it was queued for'),
    duration: textOrNull('seconds from created_at to ended_at, written as text; null until then'),
  });

/** A page of the run list of a deployment. */
export const runPageShown = z.strictObject({
  data: z.array(lightRunShown),
  meta: z.strictObject({
    total: whole('how many of your runs the deployment has'),
    limit: whole('as it was asked for'),
    offset: whole('as it was asked for'),
  }),
});

const SINCE_V2 = {
  updated_at: true,
  gpu_event_id: true,
  duration: true,
  cold_start_duration: true,
  cold_start_duration_total: true,
  run_duration: true,
  number: true,
} as const;

/** A run in V1: without V2's fields, and its outputs without their wrapper. */
export const v1RunShown = runShown.omit(SINCE_V2).extend({
  outputs: z.array(outputShown.pick({ data: true })),
  run_log: z.null(),
});
