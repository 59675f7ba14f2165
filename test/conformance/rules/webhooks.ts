// Webhooks. The specification is silent on them ("not shown"), so that every rule is the real service's.

import { inHook, inQueueRequest, jsonOf, swallowing, without, type Json } from '../violations.ts';
import { chapter, type Hook, type Violation, type Memory, type Rule } from '../rule.ts';

const KEYS = ['event_type', 'status', 'live_status', 'progress', 'run_id', 'outputs'] as const;
const bodyOf = (hook: Hook): Json => jsonOf(hook.body) as Json;

/** Changes the webhook of one status. */
const inStatus = (status: string, change: (body: Json) => Json): Violation =>
  inHook((body) => (body['status'] === status ? change(body) : body));

/** Sends something more after a webhook of this status. */
const after = (status: string, more: (body: Json) => Json): Violation => ({
  hook: async (hook, deliver) => {
    const given = await deliver(hook);
    if (bodyOf(hook)['status'] === status) {
      await deliver({ ...hook, method: 'POST', body: JSON.stringify(more(bodyOf(hook))) });
    }
    return given;
  },
});

const BODY = chapter('Real service: webhooks', [
  ...KEYS.map(
    (key) => [`webhook.${key}`, `a webhook has \`${key}\``, inHook((body) => without(body, key))] as const,
  ),
  ['webhook.six', 'a webhook has these six keys and no other', inHook((body) => ({ ...body, id: '1' }))],
  [
    'webhook.event_type.value',
    '`event_type` is `run.updated`',
    inHook((body) => ({ ...body, event_type: 'run.done' })),
  ],
  [
    'webhook.run_id.value',
    '`run_id` is the id of the run',
    inHook((body) => ({ ...body, run_id: crypto.randomUUID() })),
  ],
  [
    'webhook.progress.value',
    '`progress` is a number from 0 to 1',
    inHook((body) => ({ ...body, progress: 100 })),
  ],
  [
    'webhook.outputs.value',
    '`outputs` of a success are those of the run',
    inStatus('success', (body) => ({ ...body, outputs: [] })),
  ],
  [
    'webhook.content-type',
    'the content type of a webhook is JSON',
    {
      hook: (hook, deliver) =>
        deliver({ ...hook, headers: { ...hook.headers, 'content-type': 'text/plain' } }),
    },
  ],
  ['webhook.post', 'a webhook is a POST', { hook: (hook, deliver) => deliver({ ...hook, method: 'PUT' }) }],
  [
    'webhook.query',
    'the path and query of the webhook address are kept',
    { hook: (hook, deliver) => deliver({ ...hook, url: hook.url.split('?')[0] ?? '' }) },
  ],
]);

const OUTPUT = chapter('Real service: webhooks', [
  [
    'webhook.output',
    'with `target_events=run.output` in its query, a webhook also reports outputs by `run.output`',
    swallowing((body) => body['event_type'] === 'run.output'),
  ],
  [
    'webhook.output.outputs',
    '`run.output` contains the outputs',
    inHook((body) => (body['event_type'] === 'run.output' ? { ...body, outputs: [] } : body)),
  ],
  [
    'webhook.output.only',
    'without target_events there is no `run.output`',
    after('running', (body) => ({ ...body, event_type: 'run.output' })),
  ],
]);

const EVENTS = chapter('Real service: webhooks', [
  ...(['queued', 'started', 'running', 'success'] as const).map(
    (status) =>
      [
        `webhook.on.${status}`,
        `a webhook reports the status ${status}, whatever webhook_intermediate_status is`,
        swallowing((body) => body['status'] === status),
      ] as const,
  ),
  [
    'webhook.on.cancelled',
    'a webhook reports a cancellation',
    swallowing((body) => body['status'] === 'cancelled'),
  ],
  ['webhook.on.timeout', 'a webhook reports a timeout', swallowing((body) => body['status'] === 'timeout')],
  [
    'webhook.not-on.not-started',
    'no webhook reports that a run was accepted',
    {
      hook: async (hook, deliver, memory) => {
        const id = String(bodyOf(hook)['run_id']);
        if (!memory.has(id)) {
          memory.set(id, '');
          await deliver({ ...hook, body: JSON.stringify({ ...bodyOf(hook), status: 'not-started' }) });
        }
        return deliver(hook);
      },
    },
  ],
  [
    'webhook.intermediate',
    'with webhook_intermediate_status, webhooks also report progress within a status',
    inQueueRequest((request) => without(request, 'webhook_intermediate_status')),
  ],
  [
    'webhook.intermediate.only',
    'without webhook_intermediate_status, webhooks do not report progress',
    after('running', (body) => ({ ...body, progress: 0.5 })),
  ],
  [
    'webhook.intermediate.outputs',
    'webhooks report progress without outputs',
    inStatus('running', (body) => ({ ...body, outputs: [{ data: { images: [] } }] })),
  ],
  [
    'webhook.end.last',
    'no webhook is sent for a run after it was cancelled',
    after('cancelled', (body) => ({ ...body, status: 'running' })),
  ],
]);

/** Counts the tries of one piece of news. */
const triesOf = (hook: Hook, memory: Memory): number => {
  const key = `${hook.url} ${hook.body}`;
  const tries = Number(memory.get(key) ?? 0) + 1;
  memory.set(key, String(tries));
  return tries;
};

const TRIES = chapter('Real service: webhooks', [
  [
    'webhook.tries',
    'a webhook that is refused is sent three times',
    { hook: async (hook, deliver) => (hook.method === 'POST' ? deliver(hook).then(() => 200) : 200) },
  ],
  [
    'webhook.tries.end',
    'after three tries a webhook is not sent again',
    {
      hook: async (hook, deliver, memory) => {
        const status = await deliver(hook);
        if (status >= 400 && triesOf(hook, memory) === 3) await deliver(hook);
        return status;
      },
    },
  ],
  [
    'webhook.tries.get',
    'the second and third try are GETs with the same JSON body',
    { hook: (hook, deliver) => deliver({ ...hook, method: 'POST' }) },
  ],
  [
    'webhook.tries.body',
    'each try has the same body',
    {
      hook: (hook, deliver, memory) => {
        const body = { ...bodyOf(hook), progress: triesOf(hook, memory) / 10 };
        return deliver({ ...hook, body: JSON.stringify(body) });
      },
    },
  ],
  [
    'webhook.taken',
    'an answer below 400 accepts a webhook, which is then not sent again',
    {
      hook: async (hook, deliver) => {
        const status = await deliver(hook);
        return status < 400 ? 500 : status;
      },
    },
  ],
]);

export const WEBHOOK_RULES: readonly Rule[] = [...BODY, ...OUTPUT, ...EVENTS, ...TRIES];
