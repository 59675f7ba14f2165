// Creates changes ("lies") for the gateway: to a request, an answer, or a webhook.

import type { Answer, Asked, Hook, Lie, Memory, Pass } from './rule.ts';

export type Json = Record<string, unknown>;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const RUN = new RegExp(`^/api/run/(${UUID})$`, 'i');
const pathOf = ({ path }: Asked): string => path.split('?', 1)[0] ?? path;

export const isQueue = (asked: Asked): boolean =>
  asked.method === 'POST' && pathOf(asked) === '/api/run/deployment/queue';
export const isGetRun = (asked: Asked): boolean => asked.method === 'GET' && RUN.test(pathOf(asked));
export const isCancel = (asked: Asked): boolean =>
  asked.method === 'POST' && pathOf(asked).endsWith('/cancel');
export const isV1 = (asked: Asked): boolean => asked.path.startsWith('/v1/api/');
export const at =
  (path: RegExp, method = 'GET') =>
  (asked: Asked): boolean =>
    asked.method === method && path.test(pathOf(asked));

export const jsonOf = (body: Buffer | string): unknown => {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (error) {
    // Other lies change bodies that are not JSON.
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

type When = (asked: Asked) => boolean;

/** Changes a request before the service sees it. */
export const asking = (when: When, change: (asked: Asked) => Asked): Lie => ({
  exchange: (asked, pass) => pass(when(asked) ? change(asked) : asked),
});

/** Answers instead of the service. */
export const answering = (when: When, answer: Answer | ((asked: Asked) => Answer)): Lie => ({
  exchange: async (asked, pass) => {
    if (!when(asked)) return pass(asked);
    return typeof answer === 'function' ? answer(asked) : answer;
  },
});

/** Changes an answer of the service. */
export const telling = (
  when: (asked: Asked, answer: Answer) => boolean,
  change: (answer: Answer, asked: Asked, pass: Pass, memory: Memory) => Answer | Promise<Answer>,
): Lie => ({
  exchange: async (asked, pass, memory) => {
    const answer = await pass(asked);
    return when(asked, answer) ? change(answer, asked, pass, memory) : answer;
  },
});

/** Changes the JSON of successful answers. */
export const showing = (when: When, change: (value: Json, asked: Asked) => unknown): Lie =>
  telling(
    (asked, answer) => when(asked) && answer.status === 200,
    (answer, asked) => withJson(answer, change(jsonOf(answer.body) as Json, asked)),
  );

/** Changes what Get Run shows. */
export const inRun = (change: (run: Json) => Json): Lie => showing(isGetRun, change);

/** Changes what Get Run shows of runs that have ended. */
export const inEndedRun = (change: (run: Json) => Json): Lie =>
  inRun((run) => (run['ended_at'] === null ? run : change(run)));

/** Changes each output that Get Run shows. */
export const inOutput = (change: (output: Json) => unknown): Lie =>
  inRun((run) => ({ ...run, outputs: (run['outputs'] as Json[]).map(change) }));

/** Changes each file that Get Run shows. */
export const inFile = (change: (file: Json) => unknown): Lie =>
  inOutput((output) => {
    const data = Object.entries(output['data'] as Record<string, Json[]>);
    return { ...output, data: Object.fromEntries(data.map(([key, files]) => [key, files.map(change)])) };
  });

/** Changes the body of Queue Run before the service sees it; undefined leaves it as it is. */
export const inOrder = (change: (order: Json) => Json | undefined): Lie =>
  asking(isQueue, (asked) => {
    const order = jsonOf(asked.body);
    const changed = typeof order === 'object' && order !== null ? change(order as Json) : undefined;
    return changed === undefined ? asked : { ...asked, body: JSON.stringify(changed) };
  });

/** Makes Queue Run refuse what it must accept. */
export const refusingOrders = (when: (order: Json) => boolean): Lie =>
  answering(
    (asked) => isQueue(asked) && when((jsonOf(asked.body) ?? {}) as Json),
    answerOf(422, { detail: [{ loc: ['body'], msg: 'Not today', type: 'value_error' }] }),
  );

/** Changes refusals with a status. */
export const inRefusal = (
  when: (asked: Asked) => boolean,
  change: (detail: Json[]) => unknown,
  status = 422,
): Lie =>
  telling(
    (asked, answer) => when(asked) && answer.status === status,
    (answer) => withJson(answer, { detail: change((jsonOf(answer.body) as { detail: Json[] }).detail) }),
  );

/** Changes the status of an answer and leaves the rest. */
export const statused = (when: (asked: Asked, answer: Answer) => boolean, status: number): Lie =>
  telling(when, (answer) => ({ ...answer, status }));

/** Without a field, or with another name for it. */
export const without = (value: Json, name: string): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

/** Changes the body of each webhook. */
export const inHook = (change: (body: Json) => Json): Lie => ({
  hook: (hook, deliver) => deliver({ ...hook, body: JSON.stringify(change(jsonOf(hook.body) as Json)) }),
});

/** Drops webhooks; the service counts them as delivered. */
export const swallowing = (when: (body: Json, hook: Hook) => boolean): Lie => ({
  hook: async (hook, deliver) => (when(jsonOf(hook.body) as Json, hook) ? 200 : deliver(hook)),
});
