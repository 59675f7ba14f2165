// Generates requests from the document, and checks that the service answers as documented.

import fc from 'fast-check';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService, TOKEN } from './asking.ts';
import { openDocument, type Documented } from './documented.ts';
import { requestsFor, type Fuzzed } from './fuzzing.ts';

const SEED = 20_250_102;
const REQUESTS = 100;
const OTHER_TOKEN = 'token-of-another';

describe.each(['specification', 'vendor'] as const)('a service with the behaviour %s', (behaviour) => {
  it('answers every request as documented, and never with an internal error', async () => {
    const opened = await openService(
      { concurrencyLimit: 2 },
      { behaviour, tokens: [TOKEN, `other:${OTHER_TOKEN}`] },
    );
    const ended = await opened.queue();
    const { workflow_id: workflow } = await opened.wire(ended);
    await opened.ended(ended);
    const theirs = await ofAnother(opened);
    const known = {
      ids: [ended, await opened.queue(), theirs, opened.deploymentId, String(workflow)],
      token: TOKEN,
      otherTokens: [OTHER_TOKEN, 'nobodys', ''],
    };
    const documented = await openDocument(opened.service.url);
    const send = sender(opened.service.url);
    const seen = new Map<string, Set<number>>();

    for (const [path, methods] of Object.entries(documented.document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const statuses = new Set<number>();
        seen.set(operation.operationId, statuses);
        const requests = requestsFor(documented.document, { method, path, operation }, known);
        await fc.assert(
          fc.asyncProperty(requests, async (one) => {
            const answer = await send(one);
            statuses.add(answer.status);
            expect(faultOf(documented, { method, path }, one, answer)).toBeUndefined();
          }),
          { seed: SEED, numRuns: REQUESTS },
        );
      }
    }
    // A useful fuzzer must produce both accepted and refused requests.
    const reached = Object.fromEntries(
      [...seen].map(([id, statuses]) => [id, [...statuses].sort((a, b) => a - b)]),
    );
    expect(reached).toMatchObject({
      queueRun: [200, 401, 404, 422],
      getRun: expect.arrayContaining([200, 400, 401, 403, 404, 422]),
      cancelRun: expect.arrayContaining([200, 401, 403, 404, 422]),
      listWorkflowRuns: expect.arrayContaining([200, 401, 404, 422]),
      listDeploymentRuns: expect.arrayContaining([200, 401, 404, 422]),
      v1CreateRun: [200, 401, 500],
      v1GetRun: [200, 400, 401],
    });
    expect(Object.entries(reached).filter(([, statuses]) => !statuses.includes(200))).toEqual([]);
  });
});

it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'])(
  'where the document has no %s, the answer is 405 and says what it has',
  async (method) => {
    const { service, ask } = await openService();
    const { document } = await openDocument(service.url);
    for (const [path, methods] of Object.entries(document.paths)) {
      if (method.toLowerCase() in methods) continue;
      const answer = await ask(method, path.replaceAll(/\{\w+\}/g, 'any'));
      const allowed = String(answer.headers['allow']).toLowerCase().split(', ').sort();
      expect([path, answer.status, allowed]).toEqual([path, 405, Object.keys(methods).sort()]);
    }
  },
);

type Answer = { readonly status: number; readonly headers: object; readonly text: string };

/** What is wrong with the answer; undefined if nothing. */
function faultOf(
  { contradiction }: Documented,
  { method, path }: { readonly method: string; readonly path: string },
  { isValid }: Fuzzed,
  answer: Answer,
): string | undefined {
  // V1 answers 500 to an invalid request, in its own documented format.
  if (answer.status >= 500 && !path.startsWith('/v1/')) return `an error of its own: ${answer.text}`;
  if (isValid && [400, 401, 415, 422].includes(answer.status) && !path.startsWith('/v1/'))
    return `a valid request was refused with ${answer.status}: ${answer.text}`;
  return contradiction(method, path, answer);
}

function sender(url: string): (one: Fuzzed) => Promise<Answer> {
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
