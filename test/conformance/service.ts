// The cases' requests: real HTTP without our own client. Runs that several cases read are queued once.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { openInboxes, type Inboxes, type Json } from './receiver.ts';
import type { Target } from './target.ts';

export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body if it is a JSON object or list, otherwise an empty object. */
  readonly json: Json;
};

export type Question = {
  readonly json?: unknown;
  readonly body?: string;
  /** Undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly base?: string;
};

/** An entry of a validation failure. */
export type Problem = { readonly loc: unknown[]; readonly msg: unknown; readonly type: unknown } & Json;

export type Service = Target & {
  ask(method: string, path: string, question?: Question): Promise<Answer>;
  /** POSTs a request to Queue Run; without a `deployment_id` it uses the target's. */
  postRun(body?: Json, question?: Question): Promise<Answer>;
  /** Queues a run that must be accepted, and returns its id. */
  queue(request?: Json): Promise<string>;
  /** Sends a request that must be refused with a validation failure. */
  refused(request: Json): Promise<readonly Problem[]>;
  run(id: string): Promise<Json>;
  until(id: string, done: (run: Json) => boolean): Promise<Json>;
  ended(id: string): Promise<Json>;
  /** The result of `make`, which runs once for all cases. */
  once<Value>(name: string, make: () => Promise<Value>): Promise<Value>;
  readonly inboxes: Inboxes;
  close(): Promise<void>;
};

/** A run id that no service has. */
export const UNKNOWN_ID = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';
export const QUEUE = '/run/deployment/queue';

export async function openService(target: Target): Promise<Service> {
  const agent = new Agent({ connections: 16 });
  const inboxes = await openInboxes(target.patienceMs);
  const made = new Map<string, Promise<unknown>>();

  async function ask(method: string, path: string, question: Question = {}): Promise<Answer> {
    const { json, body = json === undefined ? undefined : JSON.stringify(json) } = question;
    const headers = {
      authorization: `Bearer ${target.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...question.headers,
    };
    const answer = await request(`${question.base ?? target.base}${path}`, {
      dispatcher: agent,
      method: method as 'GET',
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    const type = String(answer.headers['content-type'] ?? '');
    const isJson = type.startsWith('application/json');
    return {
      status: answer.statusCode,
      type,
      headers: answer.headers,
      text,
      json: isJson ? (JSON.parse(text) as Json) : {},
    };
  }

  const postRun: Service['postRun'] = (fields = {}, question = {}) => {
    const json = { deployment_id: target.deploymentId, ...fields };
    return ask('POST', QUEUE, { json, ...question });
  };

  async function queue(fields: Json = {}): Promise<string> {
    const answer = await postRun(fields);
    assert.ok(isSuccess(answer), `Queue Run answered ${answer.status}: ${answer.text}`);
    return String(answer.json['run_id']);
  }

  async function run(id: string): Promise<Json> {
    const answer = await ask('GET', `/run/${id}`);
    assert.ok(isSuccess(answer), `Get Run answered ${answer.status}: ${answer.text}`);
    return answer.json;
  }

  async function until(id: string, done: (run: Json) => boolean): Promise<Json> {
    const deadlineMs = Date.now() + target.patienceMs;
    for (;;) {
      const seen = await run(id);
      if (done(seen)) return seen;
      assert.ok(
        Date.now() < deadlineMs,
        `after ${target.patienceMs} ms the run is ${String(seen['status'])}`,
      );
      await pause(target.pauseMs);
    }
  }

  return {
    ...target,
    ask,
    postRun,
    queue,
    run,
    until,
    inboxes,
    ended: (id) => until(id, isEnded),
    refused: async (fields) => problemsOf(await postRun(fields)),
    once<Value>(name: string, make: () => Promise<Value>): Promise<Value> {
      const old = made.get(name) as Promise<Value> | undefined;
      if (old !== undefined) return old;
      const fresh = make();
      made.set(name, fresh);
      return fresh;
    },
    close: async () => {
      inboxes.close();
      await agent.destroy();
    },
  };
}

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

export const isEnded = (run: Json): boolean =>
  ['success', 'failed', 'timeout', 'cancelled'].includes(String(run['status']));

/** The problems of an answer, which must be a validation failure in the specified format. */
export function problemsOf(answer: Answer): readonly Problem[] {
  assert.ok(!isSuccess(answer), `it was taken: ${answer.text}`);
  const { detail } = answer.json;
  assert.ok(Array.isArray(detail) && detail.length > 0, `no list of problems: ${answer.text}`);
  for (const problem of detail as Json[]) {
    assert.equal(typeof problem, 'object');
    assert.ok('loc' in problem && 'msg' in problem && 'type' in problem, JSON.stringify(problem));
  }
  return detail as Problem[];
}

/** The request of the run that most cases read; it sets every field, inputs included. */
export const FULL_REQUEST = {
  webhook: 'https://runsheet.invalid/hook/1?a=b&c=%20d',
  webhook_intermediate_status: true,
  gpu: 'L4',
  flags: ['provider_v2'],
} as const;

const INPUTS = { prompt: 'a cat', seed: 7, steps: 20, tags: ['a', 'b'] };
export const inputsFor = ({ inputs = INPUTS }: Target): Json => inputs;

/** A run of `FULL_REQUEST` that has ended. */
export const finished = (service: Service): Promise<Json> =>
  service.once('finished', async () =>
    service.ended(await service.queue({ ...FULL_REQUEST, inputs: inputsFor(service) })),
  );
