import { expect, it } from 'vitest';
import { NEWS, noticeSchema } from '../../src/notices/notice-body.ts';
import { bodyOf, noticeTo } from './notice.ts';

it.each(NEWS)('the body of a notification of %s conforms to the schema', (news) => {
  const pause = news === 'paused' ? { pause: { kind: 'user', reason: 'lunch' } as const } : {};
  const body = bodyOf(noticeTo('slack:', { news, ...pause }));
  expect(noticeSchema.strict().parse(body)).toEqual(body);
  expect(body.text.startsWith('b ')).toBe(true);
});

it.each([
  [{ costUsd: 0, unpriced: 2 }, undefined],
  [{ costUsd: 0.5, unpriced: 2 }, 0.5],
  [{ costUsd: 0 }, 0],
])('the cost in a notification of %j is %s: an unknown one is not 0', (costs, usd) => {
  expect(bodyOf(noticeTo('slack:'), costs).costUsd).toBe(usd);
});
