// The chapter "Errors", and what the real service says where that chapter is silent.

import {
  answering,
  answerOf,
  at,
  inRefusal,
  isGetRun,
  isQueue,
  statused,
  changingAnswer,
  without,
  type Json,
} from '../violations.ts';
import { chapter, type ReceivedRequest, type Violation, type Rule } from '../rule.ts';

const always = (): boolean => true;

const SHAPE = chapter('Errors', [
  [
    'errors.detail',
    'a validation failure has detail, a list',
    inRefusal(always, (detail) => Object.fromEntries(detail.entries())),
  ],
  [
    'errors.detail.objects',
    'each entry of detail is an object',
    inRefusal(always, (detail) => detail.map((one) => one['msg'])),
  ],
  ['errors.detail.each', 'there is one entry per problem', inRefusal(always, (detail) => detail.slice(0, 1))],
  [
    'errors.loc',
    'an entry has loc, a list',
    inEach((one) => ({ ...one, loc: (one['loc'] as string[]).join('.') })),
  ],
  [
    'errors.loc.strings',
    'loc is a list of strings',
    inEach((one) => ({
      ...one,
      loc: (one['loc'] as string[]).map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
    })),
    'specification',
  ],
  [
    'errors.loc.place',
    'loc is the location of the faulty input',
    inEach((one) => ({ ...one, loc: ['body', 'inputs'] })),
  ],
  ['errors.msg', 'an entry has msg, a string', inEach((one) => ({ ...one, msg: null }))],
  ['errors.type', 'an entry has type, a string', inEach((one) => ({ ...one, type: 422 }))],
  [
    'errors.type.kind',
    'type is the kind of problem: different problems have different types',
    inEach((one) => ({ ...one, type: 'value_error' })),
  ],
]);

/** Changes each entry of a refusal. */
function inEach(change: (problem: Json) => Json): Violation {
  return inRefusal(always, (detail) => detail.map(change));
}

const is422 = (received: ReceivedRequest, answer: { status: number }): boolean =>
  isQueue(received) && answer.status === 422;
/** Has another type where the service has this one. */
const untyped = (type: string): Violation =>
  inEach((one) => (one['type'] === type ? { ...one, type: 'value_error' } : one));
const unplaced = (type: string): Violation =>
  inEach((one) => (one['type'] === type ? { ...one, loc: ['body', 'somewhere'] } : one));

const KINDS = chapter('Real service: status codes and error bodies', [
  [
    'status.queue',
    'Queue Run succeeds with 200',
    statused((received, { status }) => isQueue(received) && status === 200, 201),
  ],
  [
    'status.get',
    'Get Run succeeds with 200',
    statused((received, { status }) => isGetRun(received) && status === 200, 203),
  ],
  ['status.422', 'a validation failure of Queue Run has status 422', statused(is422, 400)],
  [
    'status.422.path',
    'a validation failure of a run_id has status 422',
    statused((received, { status }) => !isQueue(received) && status === 422, 400),
  ],
  ['kind.missing', 'a missing deployment_id: `missing`', untyped('missing')],
  [
    'kind.missing.words',
    'the message for a missing field is `Field required`',
    inEach((one) => ({ ...one, msg: 'required' })),
  ],
  ['kind.uuid_parsing', 'a deployment_id that is not a uuid: `uuid_parsing`', untyped('uuid_parsing')],
  ['kind.uuid_type', 'a deployment_id that is a number: `uuid_type`', untyped('uuid_type')],
  ['kind.enum', 'a GPU outside the allowed values: `enum`, with the allowed ones in msg', untyped('enum')],
  ['kind.enum.place', 'a GPU outside the allowed values is at body, gpu', unplaced('enum')],
  [
    'kind.json_invalid',
    'a body that is not JSON: `json_invalid`, at body and the offset',
    unplaced('json_invalid'),
  ],
  [
    'kind.content-type',
    'another content type, or none: `model_attributes_type` at body',
    unplaced('model_attributes_type'),
  ],
  [
    'kind.empty',
    'an empty body: `missing` at body',
    inEach((one) => (String(one['loc']) === 'body' ? { ...one, loc: ['body', 'deployment_id'] } : one)),
  ],
  [
    'kind.path',
    'a malformed run_id is at path, run_id',
    inEach((one) => (String(one['loc']) === 'path,run_id' ? { ...one, loc: ['run_id'] } : one)),
  ],
  [
    'kind.query',
    "a malformed run_id in V1's query is at query, run_id",
    inEach((one) => (String(one['loc']) === 'query,run_id' ? { ...one, loc: ['path', 'run_id'] } : one)),
  ],
  ['kind.input', 'an entry shows the input that was refused', inEach((one) => without(one, 'input'))],
  ['kind.ctx', 'the entry of a GPU has ctx.expected', inEach((one) => without(one, 'ctx'))],
  [
    'kind.null-inputs',
    'inputs and webhook_intermediate_status must not be null',
    answering(
      (received) => isQueue(received) && received.body.includes(':null'),
      answerOf(200, { run_id: '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f' }),
    ),
  ],
]);

const saying = (when: (received: ReceivedRequest) => boolean, status: number, text: string): Violation =>
  changingAnswer(
    (received, answer) => when(received) && answer.status === status && answer.body.toString().includes(text),
    (answer) => ({ ...answer, status: status === 404 ? 400 : 404 }),
  );

const MISSING = chapter('Real service: status codes and error bodies', [
  ['status.404.run', 'an unknown run: 404, `Run not found`', saying(isGetRun, 404, 'Run not found')],
  [
    'status.404.deployment',
    'a request for an unknown deployment: 404, `Deployment not found`',
    saying(isQueue, 404, 'Deployment not found'),
  ],
  ['status.404.path', 'an unknown path: 404, `Not Found`', saying(at(/nowhere/), 404, 'Not Found')],
  ['status.405', 'another method: 405, `Method Not Allowed`', saying(always, 405, 'Method Not Allowed')],
]);

export const ERROR_RULES: readonly Rule[] = [...SHAPE, ...KINDS, ...MISSING];
