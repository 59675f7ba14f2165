// The chapters "Get Run", "Queue Run", "Authentication" and "Events".

import {
  answering,
  answerOf,
  changingRequest,
  inQueueRequest,
  isGetRun,
  isQueue,
  jsonOf,
  showing,
  statused,
  changingAnswer,
  without,
  withJson,
  type Json,
} from '../violations.ts';
import { chapter, type ReceivedRequest, type Rule } from '../rule.ts';
import { UNKNOWN_ID } from '../service.ts';

const NOT_FOUND = answerOf(404, { detail: 'Not Found' });
const malformedId = ({ method, path }: ReceivedRequest): boolean =>
  method === 'GET' && /^\/api\/run\/[^/]{1,20}$/.test(path);

const GET = chapter('Get Run', [
  ['get.method', 'the method is GET', answering(isGetRun, answerOf(405, { detail: 'Method Not Allowed' }))],
  ['get.path', 'the path is /run/{run_id} below the base', answering(isGetRun, NOT_FOUND)],
  [
    'get.run_id.uuid',
    'run_id is a uuid',
    changingRequest(malformedId, (received) => ({ ...received, path: `/api/run/${UNKNOWN_ID}` })),
  ],
  [
    'get.run_id.required',
    'run_id is required',
    answering(({ method, path }) => method === 'GET' && path === '/api/run', answerOf(200, [])),
  ],
  [
    'get.no-body',
    'there is no request body',
    answering(
      (received) => isGetRun(received) && received.body === '',
      answerOf(411, { detail: 'Length Required' }),
    ),
  ],
  [
    'get.authorization',
    'the request has the header Authorization: Bearer <ACCESS_TOKEN>',
    answering(
      (received) => isGetRun(received) && (received.headers['authorization'] ?? '').startsWith('Bearer '),
      NOT_FOUND,
    ),
  ],
  [
    'get.success',
    'the success response is a JSON object, the Run itself',
    showing(isGetRun, (run) => ({ data: run })),
  ],
  [
    'get.failure',
    'the validation failure response is a JSON object with detail',
    changingAnswer(malformedId, (answer) => withJson(answer, [jsonOf(answer.body)])),
  ],
  [
    'get.rule-1',
    "a valid run_id of an existing run gives that run's record",
    {
      exchange: async (received, pass, memory) => {
        if (!isGetRun(received)) return pass(received);
        const first = memory.get('first') ?? received.path;
        memory.set('first', first);
        return pass({ ...received, path: first });
      },
    },
  ],
  [
    'get.rule-2',
    'a malformed run_id gives the validation error shape',
    answering(malformedId, answerOf(404, { detail: 'Run not found' })),
  ],
]);

const failsBadly = (when: (request: Json) => boolean): Rule['broken'] =>
  answering(
    (received) => isQueue(received) && when((jsonOf(received.body) ?? {}) as Json),
    answerOf(422, { detail: 'Something is wrong with your request' }),
  );

const wasAsked = (request: Json, name: string): boolean => request[name] !== undefined;

const QUEUE = chapter('Queue Run', [
  ['queue.method', 'the method is POST', answering(isQueue, answerOf(405, { detail: 'Method Not Allowed' }))],
  ['queue.path', 'the path is /run/deployment/queue below the base', answering(isQueue, NOT_FOUND)],
  [
    'queue.content-type',
    'the request content type is application/json',
    answering(
      (received) => isQueue(received) && received.headers['content-type'] === 'application/json',
      answerOf(415, { detail: 'Unsupported Media Type' }),
    ),
  ],
  [
    'queue.authorization',
    'the request has the header Authorization: Bearer <ACCESS_TOKEN>',
    answering(
      (received) => isQueue(received) && (received.headers['authorization'] ?? '').startsWith('Bearer '),
      NOT_FOUND,
    ),
  ],
  ['queue.success', 'the success response is a JSON object', showing(isQueue, (answer) => [answer])],
  [
    'queue.success.one-field',
    'the success response has one field',
    showing(isQueue, (answer) => ({ ...answer, status: 'not-started' })),
  ],
  ['queue.success.run_id', 'the field is run_id', showing(isQueue, ({ run_id }) => ({ id: run_id }))],
  [
    'queue.success.run_id.uuid',
    'run_id is a string, a uuid',
    showing(isQueue, ({ run_id }) => ({ run_id: String(run_id).replaceAll('-', '') })),
  ],
  [
    'queue.failure',
    'the validation failure response is a JSON object with detail',
    changingAnswer(
      (received, answer) => isQueue(received) && answer.status === 422,
      (answer) => withJson(answer, [jsonOf(answer.body)]),
    ),
  ],
  [
    'queue.rule-1',
    'a valid deployment_id creates a run, and run_id is its identifier',
    showing(isQueue, () => ({ run_id: crypto.randomUUID() })),
  ],
  [
    'queue.rule-2',
    'gpu overrides the default GPU of the machine for this run',
    inQueueRequest((request) => without(request, 'gpu')),
    'specification',
  ],
  [
    'queue.rule-3.missing',
    'a missing deployment_id gives the validation error shape',
    failsBadly((o) => !wasAsked(o, 'deployment_id')),
  ],
  [
    'queue.rule-3.invalid',
    'an invalid deployment_id gives the validation error shape',
    failsBadly((o) => o['deployment_id'] === 'portraits'),
  ],
  [
    'queue.rule-3.gpu',
    'a gpu outside the allowed values gives the validation error shape',
    failsBadly((o) => o['gpu'] === 'RTX4090'),
  ],
]);

/** Lets everyone in with the last key that was any good. */
const opening = (
  when: (received: ReceivedRequest) => boolean,
  wrong: (header: string | undefined) => boolean,
): Rule['broken'] => ({
  exchange: (received, pass, memory) => {
    const given = received.headers['authorization'];
    if (!when(received) || !wrong(given)) {
      if (given?.startsWith('Bearer ')) memory.set('key', given);
      return pass(received);
    }
    const authorization = memory.get('key') ?? '';
    return pass({ ...received, headers: { ...received.headers, authorization } });
  },
});

const saying401 = (text: string): Rule['broken'] =>
  changingAnswer(
    (_received, answer) => answer.status === 401 && answer.body.toString().includes(text),
    (answer) => withJson(answer, { detail: 'Unauthorized' }),
  );

const AUTH = chapter('Authentication', [
  [
    'auth.queue',
    'Queue Run needs the Authorization header',
    opening(isQueue, (header) => header === undefined),
  ],
  ['auth.get', 'Get Run needs the Authorization header', opening(isGetRun, (header) => header === undefined)],
  [
    'auth.scheme',
    'the scheme is Bearer',
    opening(isGetRun, (header) => header?.startsWith('Bearer ') === false),
  ],
]);

const REAL_AUTH = chapter('Real service: who may ask', [
  [
    'auth.401',
    'an unauthenticated request gets 401',
    statused((_received, answer) => answer.status === 401, 403),
  ],
  ['auth.missing', 'without a key: `Invalid or missing token`', saying401('Invalid or missing token')],
  ['auth.unknown', 'with an unknown key: `Invalid or expired token`', saying401('Invalid or expired token')],
  ['auth.revoked', 'with a revoked key: `Revoked token`', saying401('Revoked token')],
  [
    'auth.first',
    'authentication is checked before the request',
    answering(
      (received) =>
        isQueue(received) && received.body.length < 20 && received.headers['authorization'] === undefined,
      answerOf(422, { detail: [] }),
    ),
  ],
  [
    'auth.another',
    'a run of another owner: 403, `You are not authorized to access this resource`',
    changingAnswer(
      (_received, answer) => answer.status === 403,
      () => answerOf(404, { detail: 'Run not found' }),
    ),
  ],
]);

const EVENTS = chapter('Events', [
  [
    'events.order.webhook',
    'a run can be queued with webhook',
    inQueueRequest((order) => without(order, 'webhook')),
  ],
  [
    'events.order.intermediate',
    'a run can be queued with webhook_intermediate_status',
    inQueueRequest((request) => without(request, 'webhook_intermediate_status')),
  ],
]);

export const ENDPOINT_RULES: readonly Rule[] = [...GET, ...QUEUE, ...AUTH, ...REAL_AUTH, ...EVENTS];
