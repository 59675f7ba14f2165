import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moment } from '../../src/options/kinds.ts';
import { read } from '../../src/options/read.ts';

const deadlineAt = (input: string) => read(moment, input);

describe('a --deadline on the clock of a machine in Paris', () => {
  const { TZ } = process.env;
  beforeAll(() => void (process.env['TZ'] = 'Europe/Paris'));
  afterAll(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });

  it.each([
    ['2027-03-28T01:59', '2027-03-28T00:59Z'],
    ['2027-03-28T03:00', '2027-03-28T01:00Z'],
    ['2027-10-31T01:59', '2027-10-30T23:59Z'],
    ['2027-10-31T03:00:30', '2027-10-31T02:00:30Z'],
    ['2027-10-31T02:30+01:00', '2027-10-31T01:30Z'],
    ['2027-10-31T02:30Z', '2027-10-31T02:30Z'],
    ['2028-02-29T12:00', '2028-02-29T11:00Z'],
  ])('of %s is %s', (input, at) => {
    expect(deadlineAt(input)).toEqual({ kept: Date.parse(at) });
  });

  it.each([
    ['2027-03-28T02:30', /does not exist on the clock/],
    ['2027-03-28T02:00', /does not exist on the clock/],
    ['2027-10-31T02:30', /comes twice on the clock/],
    ['2027-10-31T02:00', /comes twice on the clock/],
    ['2027-02-30T12:00', /is on a day that the month does not have/],
    ['2027-02-29T12:00Z', /is on a day that the month does not have/],
    ['2027-13-01T12:00', /is not a time/],
    ['2020-01-01T00:00Z', /has passed/],
    ['2099-01-01T00:00Z', /is more than ten years away/],
  ])('of %s is refused', (input, fault) => {
    expect(deadlineAt(input)).toMatchObject({ wrong: expect.stringMatching(fault) });
  });

  it('that comes twice is refused with both moments', () => {
    const hint = 'say which one: 2027-10-31T00:30Z, 2027-10-31T01:30Z';
    expect(deadlineAt('2027-10-31T02:30')).toMatchObject({ hint });
  });
});
