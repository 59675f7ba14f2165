// Sends generated requests to every operation, and checks the answers against its schemas.

import fc from 'fast-check';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService, TOKEN } from './asking.ts';
import { requestsFor, type Fuzzed } from './fuzzing.ts';
import { operationsOf, type Operation } from '../../src/run-service/operations.ts';
import { contradiction } from './contradiction.ts';

const SEED = 20_250_102;
const REQUESTS = 100;
const OTHER_TOKEN = 'token-of-another';

describe.each(['specification', 'vendor'] as const)('a service with the behaviour %s', (behaviour) => {
  it('answers every request by the schemas of its operation, and never with an internal error', async () => {
    const opened = await openService(
      { concurrencyLimit: 2 },
      { behaviour, tokens: [TOKEN, `other:${OTHER_TOKEN}`] },
    );
    const ended = await opened.queue();
    const { workflow_id: workflow } = await opened.wire(ended);
    await opened.ended(ended);
    const foreignRun = await ofAnother(opened);
    const facts = {
      ids: [ended, await opened.queue(), foreignRun, opened.deploymentId, String(workflow)],
      token: TOKEN,
      otherTokens: [OTHER_TOKEN, 'nobodys', ''],
    };
    const send = sender(opened.service.url);
    const seen = new Map<string, Set<number>>();

    for (const operation of operationsOf(behaviour)) {
      const statuses = new Set<number>();
      seen.set(operation.route, statuses);
      await fc.assert(
        fc.asyncProperty(requestsFor(operation, facts), async (request) => {
          const answer = await send(request);
          statuses.add(answer.status);
          expect(faultOf(operation, request, answer)).toBeUndefined();
        }),
        { seed: SEED, numRuns: REQUESTS },
      );
    }
    // A useful fuzzer must produce both accepted and refused requests.
    const reached = Object.fromEntries(
      [...seen].map(([id, statuses]) => [id, [...statuses].sort((a, b) => a - b)]),
    );
    expect(reached).toMatchObject({
      'POST /api/run/deployment/queue': [200, 401, 404, 422],
      'GET /api/run/:run_id': expect.arrayContaining([200, 400, 401, 403, 404, 422]),
      'POST /api/run/:run_id/cancel': expect.arrayContaining([200, 401, 403, 404, 422]),
      'GET /api/workflow/:workflow_id/runs': expect.arrayContaining([200, 401, 404, 422]),
      'GET /api/deployment/:deployment_id/runs': expect.arrayContaining([200, 401, 404, 422]),
      'POST /v1/api/run': [200, 401, 500],
      'GET /v1/api/run': [200, 400, 401],
    });
    expect(Object.entries(reached).filter(([, statuses]) => !statuses.includes(200))).toEqual([]);
  });
});

it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'])(
  'where a path does not take %s, the answer is 405 and says what it takes',
  async (method) => {
    const { ask } = await openService();
    const taken = Map.groupBy(
      operationsOf('specification').map(({ route }) => route.split(' ')),
      ([, path]) => path,
    );
    for (const [path = '', routes] of taken) {
      const methods = routes.map(([routeMethod]) => routeMethod);
      if (methods.includes(method)) continue;
      const answer = await ask(method, path.replaceAll(/:\w+/g, 'any'));
      const allowed = String(answer.headers['allow']).split(', ');
      expect([path, answer.status, new Set(allowed)]).toEqual([path, 405, new Set(methods)]);
    }
  },
);

type FuzzAnswer = { readonly status: number; readonly headers: object; readonly text: string };

/** The fault in the answer; undefined if there is none. */
function faultOf(operation: Operation, { isValid }: Fuzzed, answer: FuzzAnswer): string | undefined {
  // V1 answers 500 to an invalid request, in its own format.
  const isV1 = operation.route.includes('/v1/');
  if (answer.status >= 500 && !isV1) return `an error of its own: ${answer.text}`;
  if (isValid && [400, 401, 415, 422].includes(answer.status) && !isV1)
    return `a valid request was refused with ${answer.status}: ${answer.text}`;
  return contradiction(operation, answer);
}

function sender(url: string): (one: Fuzzed) => Promise<FuzzAnswer> {
  const agent = new Agent({ connections: 4 });
  onTestFinished(() => agent.destroy());
  return async ({ method, path, headers, body }) => {
    const answer = await agent.request({
      origin: url,
      path,
      method,
      headers,
      body: body ?? null,
    });
    const isEndless = String(answer.headers['content-type']).startsWith('text/event-stream');
    if (isEndless) answer.body.on('error', () => undefined).destroy();
    const text = isEndless ? '' : await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text };
  };
}

async function ofAnother({ ask, deploymentId }: Awaited<ReturnType<typeof openService>>): Promise<string> {
  const body = JSON.stringify({ deployment_id: deploymentId });
  const headers = { authorization: `Bearer ${OTHER_TOKEN}` };
  return String((await ask('POST', '/api/run/deployment/queue', { body, headers })).json['run_id']);
}
