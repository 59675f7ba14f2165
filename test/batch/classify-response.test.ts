import { describe, expect, it } from 'vitest';
import { classifyResponse, type PostClass, type PostFacts } from '../../src/batch/classify-response.ts';

const inputs = [['body', 'inputs', 'seed', 'int']] as const;

const TABLE: readonly (readonly [what: string, result: PostClass, facts: PostFacts])[] = [
  ['a POST whose first byte was not written', 'not-sent', { begun: false, error: 'ECONNREFUSED' }],
  ['a POST whose first byte was not written, even with a status', 'not-sent', { begun: false, status: 200 }],
  ['a tunnel for which the proxy wants a login', 'blocked', { begun: false, proxyRefused: true }],
  ['a request for which the proxy wants a login', 'blocked', { begun: true, proxyRefused: true }],
  ['200 with a run id', 'accepted', { begun: true, status: 200, runId: 'a' }],
  ['201 with a run id', 'accepted', { begun: true, status: 201, runId: 'a' }],
  ['200 without a run id', 'unconfirmed', { begun: true, status: 200, detail: '<html>' }],
  ['204', 'unconfirmed', { begun: true, status: 204 }],
  ['101 with a run id', 'unconfirmed', { begun: true, status: 101, runId: 'a' }],
  ['300 with a run id', 'unconfirmed', { begun: true, status: 300, runId: 'a' }],
  ['302', 'unconfirmed', { begun: true, status: 302 }],
  ['no response', 'unconfirmed', { begun: true, error: 'other side closed' }],
  ['no response, whatever else is known', 'unconfirmed', { begun: true, fault: 'row', runId: 'a' }],
  ['400', 'rejected', { begun: true, status: 400, detail: 'Invalid machine type' }],
  ['413', 'rejected', { begun: true, status: 413 }],
  ['431', 'rejected', { begun: true, status: 431 }],
  ['422 about an input of the row', 'rejected', { begun: true, status: 422, locs: inputs }],
  ['422 about the gpu of the row', 'rejected', { begun: true, status: 422, locs: [['body', 'gpu']] }],
  ['422 about the deployment', 'blocked', { begun: true, status: 422, locs: [['body', 'deployment_id']] }],
  ['422 about both', 'blocked', { begun: true, status: 422, locs: [...inputs, ['body', 'deployment_id']] }],
  [
    '422 about the inputs of something else',
    'blocked',
    { begun: true, status: 422, locs: [['query', 'inputs']] },
  ],
  ['422 that names nothing', 'blocked', { begun: true, status: 422 }],
  ['401', 'blocked', { begun: true, status: 401 }],
  ['402', 'blocked', { begun: true, status: 402 }],
  ['403', 'blocked', { begun: true, status: 403 }],
  ['404', 'blocked', { begun: true, status: 404, detail: 'Deployment not found' }],
  ['405', 'blocked', { begun: true, status: 405 }],
  ['415', 'blocked', { begun: true, status: 415 }],
  ['408', 'throttled', { begun: true, status: 408 }],
  ['425', 'throttled', { begun: true, status: 425 }],
  ['429', 'throttled', { begun: true, status: 429, retryAfterMs: 1000 }],
  ['500', 'unconfirmed', { begun: true, status: 500, detail: 'Internal Server Error' }],
  [
    '500 that names a fault of the row before any run',
    'rejected',
    { begun: true, status: 500, fault: 'row' },
  ],
  [
    '500 that names a fault of all rows before any run',
    'blocked',
    { begun: true, status: 500, fault: 'batch' },
  ],
  ['502', 'unconfirmed', { begun: true, status: 502 }],
  ['503', 'unconfirmed', { begun: true, status: 503 }],
  ['504', 'unconfirmed', { begun: true, status: 504 }],
  [
    'a 400 passed on from a worker',
    'unconfirmed',
    { begun: true, status: 400, detail: 'Error creating run: bad' },
  ],
  [
    'a 429 passed on from a worker',
    'unconfirmed',
    { begun: true, status: 429, detail: 'Error creating run: slow' },
  ],
];

describe('class of a POST', () => {
  it.each(TABLE)('%s is %s', (_, result, facts) => {
    expect(classifyResponse(facts)).toBe(result);
  });
});
