// The words of a vendor's refusal reach the user, with the name of the wrong input.

import { expect, it } from 'vitest';
import { vendorReason } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { shownFault as falFault } from './fal-shapes.ts';
import { shownFault as replicateFault } from './replicate-shapes.ts';
import { shownFault as routerFault } from './router-shapes.ts';

const fault = { kind: 'most', field: 'steps', bound: 50 } as const;

it.each([
  [{ detail: [falFault(fault)] }, 'steps: '],
  [{ detail: [routerFault(fault)] }, 'steps: '],
  [
    { title: 'Input validation failed', invalid_fields: [replicateFault(fault)] },
    'input.steps: Must be less',
  ],
  [{ detail: 'a text', invalid_fields: [{ field: 'steps', description: 'too many' }] }, 'steps: too many'],
  [
    { detail: [{ loc: ['body', 'images', 0], msg: 'no image' }, { msg: 'and more' }] },
    'images.0: no image; and more',
  ],
  [{ error: { message: 'Unknown size', param: 'size', code: null } }, 'size: Unknown size'],
  [{ error: { message: 'No such size', param: null } }, 'No such size'],
  [{ message: 'is too long', field: 'prompt' }, 'prompt: is too long'],
  [{ errors: [{ field: 'seed', message: 'is negative' }], message: 'Bad request' }, 'seed: is negative'],
  [{ error: 'out of words', detail: 7 }, 'out of words'],
  [{ title: 'Not now' }, 'Not now'],
  [{ detail: [] }, '{"detail":[]}'],
])('a refusal %j is told as its words', (body, words) => {
  const text = vendorReason({ status: 422, text: JSON.stringify(body), headers: {} });
  expect(text).toContain(`answered 422: ${words}`);
});
