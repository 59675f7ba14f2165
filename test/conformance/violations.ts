// Creates changes ("violations") for the gateway: to a request, an answer, or a webhook.

import type { Answer, ReceivedRequest, Hook, Violation, Memory, Pass } from './rule.ts';

export type Json = Record<string, unknown>;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const RUN = new RegExp(`^/api/run/(${UUID})$`, 'i');
const pathOf = ({ path }: ReceivedRequest): string => path.split('?', 1)[0] ?? path;

export const isQueue = (received: ReceivedRequest): boolean =>
  received.method === 'POST' && pathOf(received) === '/api/run/deployment/queue';
export const isGetRun = (received: ReceivedRequest): boolean =>
  received.method === 'GET' && RUN.test(pathOf(received));
export const isCancel = (received: ReceivedRequest): boolean =>
  received.method === 'POST' && pathOf(received).endsWith('/cancel');
export const isV1 = (received: ReceivedRequest): boolean => received.path.startsWith('/v1/api/');
export const at =
  (path: RegExp, method = 'GET') =>
  (received: ReceivedRequest): boolean =>
    received.method === method && path.test(pathOf(received));

export const jsonOf = (body: Buffer | string): unknown => {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (error) {
    // Other violations change bodies that are not JSON.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export const answerOf = (status: number, value: unknown, type = 'application/json'): Answer => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

/** The same answer with other JSON. */
export const withJson = (answer: Answer, value: unknown): Answer => ({
  ...answer,
  body: Buffer.from(JSON.stringify(value)),
});

type When = (received: ReceivedRequest) => boolean;

/** Changes a request before the service sees it. */
export const changingRequest = (
  when: When,
  change: (received: ReceivedRequest) => ReceivedRequest,
): Violation => ({
  exchange: (received, pass) => pass(when(received) ? change(received) : received),
});

/** Answers instead of the service. */
export const answering = (
  when: When,
  answer: Answer | ((received: ReceivedRequest) => Answer),
): Violation => ({
  exchange: async (received, pass) => {
    if (!when(received)) return pass(received);
    return typeof answer === 'function' ? answer(received) : answer;
  },
});

/** Changes an answer of the service. */
export const changingAnswer = (
  when: (received: ReceivedRequest, answer: Answer) => boolean,
  change: (answer: Answer, received: ReceivedRequest, pass: Pass, memory: Memory) => Answer | Promise<Answer>,
): Violation => ({
  exchange: async (received, pass, memory) => {
    const answer = await pass(received);
    return when(received, answer) ? change(answer, received, pass, memory) : answer;
  },
});

/** Changes the JSON of successful answers. */
export const showing = (when: When, change: (value: Json, received: ReceivedRequest) => unknown): Violation =>
  changingAnswer(
    (received, answer) => when(received) && answer.status === 200,
    (answer, received) => withJson(answer, change(jsonOf(answer.body) as Json, received)),
  );

/** Changes what Get Run shows. */
export const inRun = (change: (run: Json) => Json): Violation => showing(isGetRun, change);

/** Changes what Get Run shows of runs that have ended. */
export const inEndedRun = (change: (run: Json) => Json): Violation =>
  inRun((run) => (run['ended_at'] === null ? run : change(run)));

/** Changes each output that Get Run shows. */
export const inOutput = (change: (output: Json) => unknown): Violation =>
  inRun((run) => ({ ...run, outputs: (run['outputs'] as Json[]).map(change) }));

/** Changes each file that Get Run shows. */
export const inFile = (change: (file: Json) => unknown): Violation =>
  inOutput((output) => {
    const data = Object.entries(output['data'] as Record<string, Json[]>);
    return { ...output, data: Object.fromEntries(data.map(([key, files]) => [key, files.map(change)])) };
  });

/** Changes the body of Queue Run before the service sees it; undefined leaves it as it is. */
export const inQueueRequest = (change: (request: Json) => Json | undefined): Violation =>
  changingRequest(isQueue, (received) => {
    const request = jsonOf(received.body);
    const changed = typeof request === 'object' && request !== null ? change(request as Json) : undefined;
    return changed === undefined ? received : { ...received, body: JSON.stringify(changed) };
  });

/** Makes Queue Run refuse what it must accept. */
export const refusingRequests = (when: (request: Json) => boolean): Violation =>
  answering(
    (received) => isQueue(received) && when((jsonOf(received.body) ?? {}) as Json),
    answerOf(422, { detail: [{ loc: ['body'], msg: 'Not today', type: 'value_error' }] }),
  );

/** Changes refusals with a status. */
export const inRefusal = (
  when: (received: ReceivedRequest) => boolean,
  change: (detail: Json[]) => unknown,
  status = 422,
): Violation =>
  changingAnswer(
    (received, answer) => when(received) && answer.status === status,
    (answer) => withJson(answer, { detail: change((jsonOf(answer.body) as { detail: Json[] }).detail) }),
  );

/** Changes the status of an answer and leaves the rest. */
export const statused = (
  when: (received: ReceivedRequest, answer: Answer) => boolean,
  status: number,
): Violation => changingAnswer(when, (answer) => ({ ...answer, status }));

/** Without a field, or with another name for it. */
export const without = (value: Json, name: string): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

/** Changes the body of each webhook. */
export const inHook = (change: (body: Json) => Json): Violation => ({
  hook: (hook, deliver) => deliver({ ...hook, body: JSON.stringify(change(jsonOf(hook.body) as Json)) }),
});

/** Drops webhooks; the service counts them as delivered. */
export const swallowing = (when: (body: Json, hook: Hook) => boolean): Violation => ({
  hook: async (hook, deliver) => (when(jsonOf(hook.body) as Json, hook) ? 200 : deliver(hook)),
});
