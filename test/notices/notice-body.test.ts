import { expect, it } from 'vitest';
import { NEWS, noticeSchema } from '../../src/notices/notice-body.ts';
import { bodyOf, noticeTo } from './notice.ts';

it.each(NEWS)('the body of a notification of %s conforms to the schema', (news) => {
  const pause = news === 'paused' ? { pause: { kind: 'user', reason: 'lunch' } as const } : {};
  const body = bodyOf(noticeTo('slack:', { news, ...pause }));
  expect(noticeSchema.strict().parse(body)).toEqual(body);
  expect(body.text.startsWith('b ')).toBe(true);
});
