// The body of Queue Run: the rows of its table, and what the real service takes beside them.

import {
  inOrder,
  inRefusal,
  inRun,
  isGetRun,
  isQueue,
  jsonOf,
  refusingOrders,
  showing,
  swallowing,
  without,
  type Json,
} from '../lies.ts';
import { chapter, type Rule } from '../rule.ts';
import { NOBODY } from '../service.ts';

const isDeployment = (order: Json): boolean => typeof order['deployment_id'] === 'string';

// Other cases order what nobody has meanwhile.
const isKnown = (id: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(id)) && id !== NOBODY;

/** Puts a deployment that exists where the order has none of the right kind. */
const mending = (wrong: (order: Json) => boolean): Rule['broken'] => ({
  exchange: (asked, pass, memory) => {
    const order = (isQueue(asked) ? jsonOf(asked.body) : undefined) as Json | undefined;
    if (order === undefined) return pass(asked);
    if (!wrong(order)) {
      if (isKnown(order['deployment_id'])) memory.set('good', String(order['deployment_id']));
      return pass(asked);
    }
    return pass({ ...asked, body: JSON.stringify({ ...order, deployment_id: memory.get('good') }) });
  },
});

const wasAsked = (order: Json, name: string): boolean => order[name] !== undefined;
const absent = (name: string) => (order: Json) => isDeployment(order) && !wasAsked(order, name);
const dropping = (name: string, when: (value: unknown) => boolean): Rule['broken'] =>
  inOrder((order) => (when(order[name]) ? without(order, name) : undefined));

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
  ['inputs.optional', 'inputs is not required', refusingOrders(absent('inputs'))],
  [
    'inputs.default',
    'the default of inputs is an empty object',
    inOrder((order) => (wasAsked(order, 'inputs') ? undefined : { ...order, inputs: { prompt: '' } })),
  ],
  [
    'inputs.free-form',
    'inputs is free-form: a value may be any JSON value',
    inOrder((order) => {
      const plain = Object.entries((order['inputs'] ?? {}) as Json).filter(
        ([, value]) => typeof value !== 'object',
      );
      return { ...order, inputs: Object.fromEntries(plain) };
    }),
    'specification',
  ],
  [
    'inputs.kept',
    'the inputs of a run are those of its request',
    inOrder((order) => (wasAsked(order, 'inputs') ? { ...order, inputs: {} } : undefined)),
  ],
  ['webhook.type', 'webhook is a string', dropping('webhook', (value) => typeof value === 'number')],
  ['webhook.optional', 'webhook is not required', refusingOrders(absent('webhook'))],
  [
    'webhook.default',
    'there is no webhook by default',
    inOrder((order) =>
      wasAsked(order, 'webhook') ? undefined : { ...order, webhook: 'https://runsheet.invalid/' },
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
    refusingOrders(absent('webhook_intermediate_status')),
  ],
  [
    'webhook_intermediate_status.default',
    'webhook_intermediate_status is off by default',
    inOrder((order) => ({ webhook_intermediate_status: true, ...order })),
  ],
  ['gpu.type', 'gpu is a string', dropping('gpu', (value) => typeof value === 'number')],
  ['gpu.optional', 'gpu is not required', refusingOrders(absent('gpu'))],
  [
    'gpu.default',
    "a run without a requested gpu gets that of its machine",
    inRun((run) => (run['gpu'] === 'A10G' ? { ...run, gpu: 'H100' } : run)),
  ],
  ['flags.type', 'flags is a list', dropping('flags', (value) => typeof value === 'string')],
  [
    'flags.items',
    'each flag is a string',
    inOrder((order) =>
      Array.isArray(order['flags']) ? { ...order, flags: order['flags'].map(String) } : undefined,
    ),
  ],
  ['flags.optional', 'flags is not required, and there are none by default', refusingOrders(absent('flags'))],
  [
    'flags.provider_v2',
    'the flag provider_v2 is accepted',
    refusingOrders(({ flags }) => Array.isArray(flags) && flags.includes('provider_v2')),
  ],
]);

const REAL = chapter('Real service: Queue Run', [
  [
    'queue.unknown-fields',
    'unknown fields are ignored',
    refusingOrders((order) => 'machine_id' in order),
  ],
  ['queue.null-gpu', 'gpu may be null', refusingOrders((order) => order['gpu'] === null)],
  ['queue.null-webhook', 'webhook may be null', refusingOrders((order) => order['webhook'] === null)],
  ['queue.null-flags', 'flags may be null', refusingOrders((order) => order['flags'] === null)],
  [
    'queue.any-flags',
    'any flags are accepted',
    refusingOrders(({ flags }) => Array.isArray(flags) && flags.includes('made_up')),
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

export const ORDER_RULES: readonly Rule[] = [...FIELDS, ...REAL];
