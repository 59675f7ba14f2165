import { describe, expect, it } from 'vitest';
import { classify, type PostFacts, type PostClass } from '../../src/batch/classify.ts';

const inputs = [['body', 'inputs', 'seed', 'int']] as const;

const TABLE: readonly (readonly [what: string, facts: PostFacts, became: PostClass])[] = [
  ['nothing was written', { begun: false, error: 'ECONNREFUSED' }, 'not-sent'],
  ['nothing was written, whatever else is said', { begun: false, status: 200 }, 'not-sent'],
  ['200 with a run id', { begun: true, status: 200, runId: 'a' }, 'accepted'],
  ['201 with a run id', { begun: true, status: 201, runId: 'a' }, 'accepted'],
  ['200 without a run id', { begun: true, status: 200, detail: '<html>' }, 'uncertain'],
  ['204', { begun: true, status: 204 }, 'uncertain'],
  ['302', { begun: true, status: 302 }, 'uncertain'],
  ['no answer', { begun: true, error: 'other side closed' }, 'uncertain'],
  ['400', { begun: true, status: 400, detail: 'Invalid machine type' }, 'refused'],
  ['413', { begun: true, status: 413 }, 'refused'],
  ['431', { begun: true, status: 431 }, 'refused'],
  ['422 about an input of the row', { begun: true, status: 422, locs: inputs }, 'refused'],
  ['422 about the gpu of the row', { begun: true, status: 422, locs: [['body', 'gpu']] }, 'refused'],
  ['422 about the deployment', { begun: true, status: 422, locs: [['body', 'deployment_id']] }, 'pause'],
  ['422 about both', { begun: true, status: 422, locs: [...inputs, ['body', 'deployment_id']] }, 'pause'],
  ['422 that names nothing', { begun: true, status: 422 }, 'pause'],
  ['401', { begun: true, status: 401 }, 'pause'],
  ['402', { begun: true, status: 402 }, 'pause'],
  ['403', { begun: true, status: 403 }, 'pause'],
  ['404', { begun: true, status: 404, detail: 'Deployment not found' }, 'pause'],
  ['405', { begun: true, status: 405 }, 'pause'],
  ['415', { begun: true, status: 415 }, 'pause'],
  ['408', { begun: true, status: 408 }, 'not-processed'],
  ['425', { begun: true, status: 425 }, 'not-processed'],
  ['429', { begun: true, status: 429, retryAfterMs: 1000 }, 'not-processed'],
  ['500', { begun: true, status: 500, detail: 'Internal Server Error' }, 'uncertain'],
  [
    '500 that says before any run what is wrong with the row',
    { begun: true, status: 500, fault: 'row' },
    'refused',
  ],
  [
    '500 that says before any run what is wrong with all',
    { begun: true, status: 500, fault: 'batch' },
    'pause',
  ],
  ['502', { begun: true, status: 502 }, 'uncertain'],
  ['503', { begun: true, status: 503 }, 'uncertain'],
  ['504', { begun: true, status: 504 }, 'uncertain'],
  [
    'a 400 passed through from a worker',
    { begun: true, status: 400, detail: 'Error creating run: bad' },
    'uncertain',
  ],
  [
    'a 429 passed through from a worker',
    { begun: true, status: 429, detail: 'Error creating run: slow down' },
    'uncertain',
  ],
];

describe('what became of a POST', () => {
  it.each(TABLE)('%s', (_, facts, became) => {
    expect(classify(facts)).toBe(became);
  });
});
