// The body of Queue Run: the rows of its table, and what the real service takes beside them.

import {
  inQueueRequest,
  inRefusal,
  inRun,
  isGetRun,
  isQueue,
  jsonOf,
  refusingRequests,
  showing,
  swallowing,
  without,
  type Json,
} from '../violations.ts';
import { chapter, type Rule } from '../rule.ts';
import { UNKNOWN_ID } from '../service.ts';

const isDeployment = (request: Json): boolean => typeof request['deployment_id'] === 'string';

// Other cases request an unknown deployment at the same time.
const isKnown = (id: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(id)) && id !== UNKNOWN_ID;

/** Puts a deployment that exists where the request has none of the right kind. */
const mending = (wrong: (request: Json) => boolean): Rule['broken'] => ({
  exchange: (received, pass, memory) => {
    const request = (isQueue(received) ? jsonOf(received.body) : undefined) as Json | undefined;
    if (request === undefined) return pass(received);
    if (!wrong(request)) {
      if (isKnown(request['deployment_id'])) memory.set('good', String(request['deployment_id']));
      return pass(received);
    }
    return pass({ ...received, body: JSON.stringify({ ...request, deployment_id: memory.get('good') }) });
  },
});

const wasAsked = (request: Json, name: string): boolean => request[name] !== undefined;
const absent = (name: string) => (request: Json) => isDeployment(request) && !wasAsked(request, name);
const dropping = (name: string, when: (value: unknown) => boolean): Rule['broken'] =>
  inQueueRequest((request) => (when(request[name]) ? without(request, name) : undefined));

const FIELDS = chapter('Queue Run: request body', [
  ['deployment_id.type', 'deployment_id is a string', mending((o) => typeof o['deployment_id'] === 'number')],
  [
    'deployment_id.required',
    'deployment_id is required and has no default',
    mending((o) => !wasAsked(o, 'deployment_id')),
  ],
  ['deployment_id.format', 'deployment_id is a uuid', mending((o) => o['deployment_id'] === 'portraits')],
  [
    'inputs.type',
    'inputs is an object',
    dropping('inputs', (value) => typeof value !== 'object' || Array.isArray(value)),
  ],
  ['inputs.optional', 'inputs is not required', refusingRequests(absent('inputs'))],
  [
    'inputs.default',
    'the default of inputs is an empty object',
    inQueueRequest((request) =>
      wasAsked(request, 'inputs') ? undefined : { ...request, inputs: { prompt: '' } },
    ),
  ],
  [
    'inputs.free-form',
    'inputs is free-form: a value may be any JSON value',
    inQueueRequest((request) => {
      const plain = Object.entries((request['inputs'] ?? {}) as Json).filter(
        ([, value]) => typeof value !== 'object',
      );
      return { ...request, inputs: Object.fromEntries(plain) };
    }),
    'specification',
  ],
  [
    'inputs.kept',
    'the inputs of a run are those of its request',
    inQueueRequest((request) => (wasAsked(request, 'inputs') ? { ...request, inputs: {} } : undefined)),
  ],
  ['webhook.type', 'webhook is a string', dropping('webhook', (value) => typeof value === 'number')],
  ['webhook.optional', 'webhook is not required', refusingRequests(absent('webhook'))],
  [
    'webhook.default',
    'there is no webhook by default',
    inQueueRequest((request) =>
      wasAsked(request, 'webhook') ? undefined : { ...request, webhook: 'https://runsheet.invalid/' },
    ),
  ],
  ['webhook.target', 'the service calls the webhook target for the run', swallowing(() => true)],
  [
    'webhook_intermediate_status.type',
    'webhook_intermediate_status is a boolean',
    dropping('webhook_intermediate_status', Array.isArray),
  ],
  [
    'webhook_intermediate_status.optional',
    'webhook_intermediate_status is not required',
    refusingRequests(absent('webhook_intermediate_status')),
  ],
  [
    'webhook_intermediate_status.default',
    'webhook_intermediate_status is off by default',
    inQueueRequest((request) => ({ webhook_intermediate_status: true, ...request })),
  ],
  ['gpu.type', 'gpu is a string', dropping('gpu', (value) => typeof value === 'number')],
  ['gpu.optional', 'gpu is not required', refusingRequests(absent('gpu'))],
  [
    'gpu.default',
    'a run without a requested gpu gets that of its machine',
    inRun((run) => (run['gpu'] === 'A10G' ? { ...run, gpu: 'H100' } : run)),
  ],
  ['flags.type', 'flags is a list', dropping('flags', (value) => typeof value === 'string')],
  [
    'flags.items',
    'each flag is a string',
    inQueueRequest((request) =>
      Array.isArray(request['flags']) ? { ...request, flags: request['flags'].map(String) } : undefined,
    ),
  ],
  [
    'flags.optional',
    'flags is not required, and there are none by default',
    refusingRequests(absent('flags')),
  ],
  [
    'flags.provider_v2',
    'the flag provider_v2 is accepted',
    refusingRequests(({ flags }) => Array.isArray(flags) && flags.includes('provider_v2')),
  ],
]);

const REAL = chapter('Real service: Queue Run', [
  ['queue.unknown-fields', 'unknown fields are ignored', refusingRequests((order) => 'machine_id' in order)],
  ['queue.null-gpu', 'gpu may be null', refusingRequests((request) => request['gpu'] === null)],
  ['queue.null-webhook', 'webhook may be null', refusingRequests((request) => request['webhook'] === null)],
  ['queue.null-flags', 'flags may be null', refusingRequests((request) => request['flags'] === null)],
  [
    'queue.any-flags',
    'any flags are accepted',
    refusingRequests(({ flags }) => Array.isArray(flags) && flags.includes('made_up')),
  ],
  [
    'queue.gpu.deployment-wins',
    'the GPU of a deployment takes precedence',
    showing(isGetRun, (run) => (run['gpu'] === 'A10G' ? { ...run, gpu: 'H100' } : run)),
    'vendor',
  ],
  [
    'queue.inputs.scalars',
    'a value of inputs that is null or an object is refused, with five entries',
    inRefusal(isQueue, (detail) => detail.slice(0, 1)),
    'vendor',
  ],
]);

export const QUEUE_REQUEST_RULES: readonly Rule[] = [...FIELDS, ...REAL];
