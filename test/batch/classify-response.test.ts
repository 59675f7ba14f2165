import { describe, expect, it } from 'vitest';
import { classifyResponse, type PostClass, type PostFacts } from '../../src/batch/classify-response.ts';

const inputs = [['body', 'inputs', 'seed', 'int']] as const;

const TABLE: readonly (readonly [what: string, facts: PostFacts, result: PostClass])[] = [
  ['a POST of which nothing was written', { begun: false, error: 'ECONNREFUSED' }, 'not-sent'],
  ['a POST of which nothing was written, whatever else is known', { begun: false, status: 200 }, 'not-sent'],
  ['200 with a run id', { begun: true, status: 200, runId: 'a' }, 'accepted'],
  ['201 with a run id', { begun: true, status: 201, runId: 'a' }, 'accepted'],
  ['200 without a run id', { begun: true, status: 200, detail: '<html>' }, 'unconfirmed'],
  ['204', { begun: true, status: 204 }, 'unconfirmed'],
  ['302', { begun: true, status: 302 }, 'unconfirmed'],
  ['no response', { begun: true, error: 'other side closed' }, 'unconfirmed'],
  ['400', { begun: true, status: 400, detail: 'Invalid machine type' }, 'rejected'],
  ['413', { begun: true, status: 413 }, 'rejected'],
  ['431', { begun: true, status: 431 }, 'rejected'],
  ['422 about an input of the row', { begun: true, status: 422, locs: inputs }, 'rejected'],
  ['422 about the gpu of the row', { begun: true, status: 422, locs: [['body', 'gpu']] }, 'rejected'],
  ['422 about the deployment', { begun: true, status: 422, locs: [['body', 'deployment_id']] }, 'blocked'],
  ['422 about both', { begun: true, status: 422, locs: [...inputs, ['body', 'deployment_id']] }, 'blocked'],
  [
    '422 about the inputs of something else',
    { begun: true, status: 422, locs: [['query', 'inputs']] },
    'blocked',
  ],
  ['422 that names nothing', { begun: true, status: 422 }, 'blocked'],
  ['401', { begun: true, status: 401 }, 'blocked'],
  ['402', { begun: true, status: 402 }, 'blocked'],
  ['403', { begun: true, status: 403 }, 'blocked'],
  ['404', { begun: true, status: 404, detail: 'Deployment not found' }, 'blocked'],
  ['405', { begun: true, status: 405 }, 'blocked'],
  ['415', { begun: true, status: 415 }, 'blocked'],
  ['408', { begun: true, status: 408 }, 'throttled'],
  ['425', { begun: true, status: 425 }, 'throttled'],
  ['429', { begun: true, status: 429, retryAfterMs: 1000 }, 'throttled'],
  ['500', { begun: true, status: 500, detail: 'Internal Server Error' }, 'unconfirmed'],
  [
    '500 that names a fault of the row before any run',
    { begun: true, status: 500, fault: 'row' },
    'rejected',
  ],
  [
    '500 that names a fault of all rows before any run',
    { begun: true, status: 500, fault: 'batch' },
    'blocked',
  ],
  ['502', { begun: true, status: 502 }, 'unconfirmed'],
  ['503', { begun: true, status: 503 }, 'unconfirmed'],
  ['504', { begun: true, status: 504 }, 'unconfirmed'],
  [
    'a 400 passed on from a worker',
    { begun: true, status: 400, detail: 'Error creating run: bad' },
    'unconfirmed',
  ],
  [
    'a 429 passed on from a worker',
    { begun: true, status: 429, detail: 'Error creating run: slow' },
    'unconfirmed',
  ],
];

describe('the class of a POST', () => {
  it.each(TABLE)('%s', (_, facts, result) => {
    expect(classifyResponse(facts)).toBe(result);
  });
});
