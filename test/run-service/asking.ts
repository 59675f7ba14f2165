// A local service for one test, and requests to it over real HTTP.

import { onTestFinished } from 'vitest';
import { Agent, request } from 'undici';
import { parseExactly } from '../../src/host/formats/exact-json.ts';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import {
  deploymentSpecSchema,
  startLocalService,
  type LocalService,
  type LocalServiceOptions,
} from '../../src/run-service/server.ts';

export const TOKEN = 'token-of-the-test';

type Json = Record<string, unknown>;
type ServiceAnswer = {
  readonly status: number;
  readonly headers: Json;
  readonly text: string;
  readonly json: Json;
};

export type Asking = {
  readonly service: LocalService;
  readonly deploymentId: string;
  ask(
    method: string,
    path: string,
    options?: { body?: string; headers?: Record<string, string> },
  ): Promise<ServiceAnswer>;
  /** Queues a run and returns its id. */
  queue(fields?: Json): Promise<string>;
  wire(id: string): Promise<Json>;
  run(id: string): Promise<Run>;
  /** Polls the run until it satisfies `done`. */
  until(id: string, done: (run: Run) => boolean): Promise<Run>;
  ended(id: string): Promise<Run>;
};

/** Starts a service with one deployment, 100 times as fast as the real one. */
export async function openService(
  spec: Json = {},
  options: Partial<LocalServiceOptions> = {},
): Promise<Asking> {
  const deployment = deploymentSpecSchema.parse({ name: 'test', ...spec });
  const service = await startLocalService({
    port: 0,
    tokens: [TOKEN],
    speed: 100,
    database: ':memory:',
    deployments: [deployment],
    faults: {},
    seed: 1,
    ...options,
  });
  onTestFinished(() => service.close());
  return { service, ...asking(service.url, deployment.id) };
}

/** The same requests, to any service. */
export function asking(url: string, deploymentId: string): Omit<Asking, 'service'> {
  const agent = new Agent({ connections: 8 });
  onTestFinished(() => agent.destroy());

  async function ask(
    method: string,
    path: string,
    options: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<ServiceAnswer> {
    const answer = await request(`${url}${path}`, {
      dispatcher: agent,
      method: method as 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...options.headers },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      json: isJson ? (parseExactly(text) as Json) : {},
    };
  }

  async function queue(fields: Json = {}): Promise<string> {
    const body = JSON.stringify({ deployment_id: deploymentId, ...fields });
    const answer = await ask('POST', '/api/run/deployment/queue', { body });
    if (answer.status !== 200) throw new Error(`queue answered ${answer.status}: ${answer.text}`);
    return String(answer.json['run_id']);
  }

  const wire = async (id: string): Promise<Json> => (await ask('GET', `/api/run/${id}`)).json;
  const run = async (id: string): Promise<Run> => runSchema.parse(await wire(id));

  async function until(id: string, done: (run: Run) => boolean): Promise<Run> {
    const deadlineMs = Date.now() + 10_000;
    for (;;) {
      const seen = await run(id);
      if (done(seen)) return seen;
      if (Date.now() > deadlineMs) throw new Error(`run ${id} is still ${seen.status}`);
    }
  }

  const ended = (id: string): Promise<Run> => until(id, (seen) => seen.endedAtMs !== undefined);
  return { deploymentId, ask, queue, wire, run, until, ended };
}

/** The value; throws if it is missing. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the value is missing');
  return value;
}
