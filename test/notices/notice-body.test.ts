// docs/notifications.md and the schema describe the same body.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NEWS, noticeSchema } from '../../src/notices/notice-body.ts';
import { SCHEDULE_NEWS, scheduleNoticeSchema } from '../../src/notices/schedule-notice-body.ts';
import { bodyOf, noticeTo } from './notice.ts';

const WHOLE = readFileSync(join(import.meta.dirname, '../../docs/notifications.md'), 'utf8');
const [PAGE = '', SCHEDULES = ''] = WHOLE.split('## Body of a schedule');

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly const?: unknown;
};

/** Each field that is no object, with its type; `?` if it may be missing. */
const fieldsOf = (
  { properties = {}, required = [] }: Schema,
  path = '',
  isOptional = false,
): readonly string[] =>
  Object.entries(properties).flatMap(([name, field]) => {
    const mayMiss = isOptional || !required.includes(name);
    if (field.properties !== undefined) return fieldsOf(field, `${path}${name}.`, mayMiss);
    const type = (field.type ?? typeof field.const).replace('integer', 'number');
    return [`${path}${name} ${type}${mayMiss ? '?' : ''}`];
  });

describe('the body of a notification', () => {
  it('has the fields that docs/notifications.md names', () => {
    const named = [...PAGE.matchAll(/^\| `([\w.]+)` +\| (string|number)(\?)? +\|/gm)].map(
      ([, name, type, mark = '']) => `${name} ${type}${mark}`,
    );
    expect(named).toEqual(fieldsOf(z.toJSONSchema(noticeSchema) as Schema));
  });

  it('is what the example of docs/notifications.md shows', () => {
    const [, example = ''] = /```json\n(.*?)```/s.exec(PAGE) ?? [];
    expect(() => noticeSchema.strict().parse(JSON.parse(example))).not.toThrow();
  });

  it.each(NEWS)('of %s is named there, and conforms to the schema', (news) => {
    expect(PAGE).toMatch(new RegExp(`^\\| \`${news}\``, 'm'));
    const pause = news === 'paused' ? { pause: { kind: 'user', reason: 'lunch' } as const } : {};
    const body = bodyOf(noticeTo('slack:', { news, ...pause }));
    expect(noticeSchema.strict().parse(body)).toEqual(body);
    expect(body.text.startsWith('b ')).toBe(true);
  });
});

describe('the body of a notification about a schedule', () => {
  it('has the fields that docs/notifications.md names, and is what the example shows', () => {
    const named = [...SCHEDULES.matchAll(/^\| `(\w+)` +\| (\w+)(\?)? +\|/gm)].map(
      ([, name, type, mark = '']) => `${name} ${type}${mark}`,
    );
    const { properties = {}, required = [] } = z.toJSONSchema(scheduleNoticeSchema) as Schema;
    const fields = Object.entries(properties).map(([name, { type, const: one }]) => {
      const mark = required.includes(name) ? '' : '?';
      return `${name} ${type ?? typeof one}${mark}`;
    });
    expect(named).toEqual(fields);
    const [, example = ''] = /```json\n(.*?)```/s.exec(SCHEDULES) ?? [];
    expect(() => scheduleNoticeSchema.strict().parse(JSON.parse(example))).not.toThrow();
  });

  it.each(SCHEDULE_NEWS)('of %s is named there', (news) => {
    expect(PAGE).toMatch(new RegExp(`^\\| \`${news}\``, 'm'));
  });
});
