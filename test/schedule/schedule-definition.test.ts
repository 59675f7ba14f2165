import { describe, expect, it } from 'vitest';
import {
  batchNameAt,
  changesBetween,
  definitionFrom,
  firingOf,
  refuseOtherPlaceholders,
} from '../../src/schedule/schedule-definition.ts';
import { definitionOf } from './definition.ts';

const TWO_IN_PARIS = Date.parse('2026-11-23T01:00:00Z');

describe('a firing', () => {
  it('has the date and the time of its nominal time on the clock of the zone', () => {
    const { name, sheet, request } = firingOf(
      definitionOf({ sheet: '/data/{{date}}/at-{{time}}.csv', set: { day: 'on {{date}}', plain: '{{x}}' } }),
      Date.parse('2026-11-22T23:30:00Z'),
    );
    expect(name).toBe('nightly-20261122T233000Z');
    expect(sheet).toBe('/data/2026-11-23/at-0030.csv');
    const inS3 = definitionFrom({ ...definitionOf({}), sheet: 's3://sheets/{{date}}.csv' });
    expect(inS3.sheet).toBe('s3://sheets/{{date}}.csv');
    expect(request.options.set).toEqual({ day: 'on 2026-11-23', plain: '{{x}}' });
  });

  it('has a batch of its own, also when the clock shows its time twice', () => {
    const twice = ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z'].map((at) => Date.parse(at));
    expect(new Set(twice.map((at) => batchNameAt('nightly', at))).size).toBe(2);
  });

  it('refuses a path with a placeholder that nothing fills', () => {
    expect(() => refuseOtherPlaceholders('/data/{{month}}.csv')).toThrow(
      expect.objectContaining({ code: 'E602', message: "the sheet's path contains {{month}}" }),
    );
    expect(() => refuseOtherPlaceholders('/data/{{date}}.csv')).not.toThrow();
  });
});

describe('two definitions', () => {
  it('of the same are equal, also in another order of their names', () => {
    const before = definitionOf({});
    const after = Object.fromEntries(Object.entries(before).toReversed()) as typeof before;
    expect(changesBetween(before, after)).toEqual([]);
    expect(changesBetween(before, { ...before, reuse: false })).toEqual([]);
  });

  it('that differ name each setting with both values', () => {
    const before = definitionOf({});
    const after = definitionOf({ cron: '0 3 * * *', set: { steps: '20' } });
    expect(changesBetween(before, after)).toEqual([
      'cron "0 2 * * *" → "0 3 * * *"',
      'set.steps none → "20"',
    ]);
    expect(batchNameAt('nightly', TWO_IN_PARIS)).toBe('nightly-20261123T010000Z');
  });

  it('that differ in times and amounts show them as they were given', () => {
    const before = definitionOf({});
    const settings = { ...before.request.settings, maxCostNano: 20e9, deadlineAt: Date.UTC(2026, 11, 24) };
    const after = { ...before, deadlineMs: 28_800_000, request: { ...before.request, settings } };
    expect(changesBetween(before, after)).toEqual([
      'maxCost none → $20.00',
      'deadline none → 2026-12-24T00:00:00.000Z',
      'deadline none → 8 h',
    ]);
    const set = definitionOf({ set: { atNano: 'x' } });
    expect(changesBetween(before, set)).toEqual(['set.atNano none → "x"']);
  });

  it('of other addresses are named without their signatures', () => {
    const at = (sheet: string, page?: string) => {
      const { request, ...more } = definitionOf({});
      const options = { ...request.options, ...(page && { sheet: page }) };
      return { ...more, sheet, request: { ...request, options } };
    };
    expect(
      changesBetween(at('https://a.example/a.csv?sig=one'), at('https://a.example/a.csv?sig=two')),
    ).toEqual(['sheet "https://a.example/a.csv" → the same address with another query']);
    expect(
      changesBetween(at('/a.xlsx', 'May'), at('https://u:pass@b.example/a.xlsx?sig=two', 'May')),
    ).toEqual(['sheet "/a.xlsx" → "https://b.example/a.xlsx"']);
    expect(changesBetween(at('/a.xlsx', 'May'), at('/a.xlsx', 'June'))).toEqual(['sheet "May" → "June"']);
  });
});
