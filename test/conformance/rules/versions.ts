// The chapter "Versioning", and what the real service did on the base of V1.

import {
  answering,
  answerOf,
  changingRequest,
  at,
  inRun,
  isGetRun,
  isQueue,
  isV1,
  refusingRequests,
  changingAnswer,
  without,
  withJson,
  jsonOf,
  showing,
  type Json,
} from '../violations.ts';
import { chapter, type ReceivedRequest, type Violation, type Rule } from '../rule.ts';

const NOT_FOUND = answerOf(404, 'Not Found', 'text/plain');
const isV1Queue = (received: ReceivedRequest): boolean => isV1(received) && received.method === 'POST';
const isV1Get = at(/^\/v1\/api\/run$/);
const inV1 = (change: (run: Json) => Json): Violation => showing(isV1Get, change);

const TABLE = chapter('Versioning', [
  ['versions.v1.create', 'V1 creates a run by POST /run', answering(isV1Queue, NOT_FOUND)],
  ['versions.v1.get', 'V1 returns the status of a run by GET /run', answering(isV1Get, NOT_FOUND)],
  [
    'versions.v1.get.query',
    'V1 reads the run from the query parameter run_id',
    {
      exchange: (received, pass, memory) => {
        if (!isV1Get(received)) return pass(received);
        const first = memory.get('first') ?? received.path;
        memory.set('first', first);
        return pass({ ...received, path: first });
      },
    },
  ],
  ['versions.v2.create', 'V2 creates a run by POST /run/deployment/queue', answering(isQueue, NOT_FOUND)],
  ['versions.v2.get', 'V2 returns the status of a run by GET /run/{run_id}', answering(isGetRun, NOT_FOUND)],
  [
    'versions.base',
    "V1 and V2 differ by their base address: V2's endpoints are not on the base of V1",
    changingRequest(isV1, (received) => ({
      ...received,
      path: received.path.replace('/v1/api/run/', '/api/run/'),
    })),
  ],
  [
    'migration.1',
    'a client that has replaced the base address finds its earlier runs',
    {
      exchange: async (received, pass, memory) => {
        const answer = await pass(received);
        if (isV1Queue(received)) memory.set(String((jsonOf(answer.body) as Json)['run_id']), '');
        const id = received.path.split('/').at(-1) ?? '';
        return isGetRun(received) && memory.has(id) ? answerOf(404, { detail: 'Run not found' }) : answer;
      },
    },
  ],
  [
    'migration.2',
    'the node component is at v2.1.0 or later if the service shows its version',
    inRun((run) => ({ ...run, machine_version: 'v2.0.9' })),
  ],
  [
    'migration.5',
    'a run with a deployment_id and the flag provider_v2 can be queued and ends',
    refusingRequests((request) => Array.isArray(request['flags'])),
  ],
]);

const REAL = chapter('Real service: V1', [
  ['v1.answer', 'POST /run answers {run_id}', showing(isV1Queue, ({ run_id }) => ({ id: run_id }))],
  [
    'v1.401',
    'an unauthenticated request gets 401 in plain text',
    changingAnswer(
      (received, { status }) => isV1(received) && status === 401,
      () => answerOf(401, { detail: 'Invalid or expired token' }),
    ),
  ],
  [
    'v1.500',
    'an invalid request: 500 and {error}',
    changingAnswer(
      (received, { status }) => isV1Queue(received) && status === 500,
      (answer) => ({ ...withJson(answer, { detail: [] }), status: 422 }),
    ),
  ],
  [
    'v1.400',
    'an unknown run: 400 and {code, message: "Workflow not found"}',
    changingAnswer(
      (received, { status }) => isV1Get(received) && status === 400,
      () => answerOf(404, { detail: 'Run not found' }),
    ),
  ],
  [
    'v1.fields',
    'a run shows neither updated_at nor gpu_event_id, no durations and no number',
    inV1((run) => ({ ...run, updated_at: run['created_at'] })),
  ],
  ['v1.run_log', 'a run shows run_log', inV1((run) => without(run, 'run_log'))],
  [
    'v1.outputs',
    'an output is {data}',
    inV1((run) => ({ ...run, outputs: (run['outputs'] as Json[]).map((one) => ({ ...one, id: '1' })) })),
  ],
]);

export const VERSION_RULES: readonly Rule[] = [...TABLE, ...REAL];
