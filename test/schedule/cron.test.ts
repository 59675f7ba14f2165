import { describe, expect, it } from 'vitest';
import { parseCron, timesOf } from '../../src/schedule/cron.ts';

const MONDAY_0200 = '2026-11-23T02:00Z';
const fires = (cron: string, at: string, timezone = 'UTC'): boolean =>
  timesOf(parseCron(cron).fields, timezone)(Date.parse(at));

describe('a cron rule', () => {
  it('matches values, lists, ranges, steps and names', () => {
    const matching: readonly (readonly [string, string])[] = [
      ['0 2 * * *', MONDAY_0200],
      ['*/15 * * * *', '2026-11-23T02:45Z'],
      ['5/20 * * * *', '2026-11-23T02:45Z'],
      ['0 1-3 * * *', MONDAY_0200],
      ['0 0-6/2 * * *', MONDAY_0200],
      ['0 2 1,23 NOV mon', MONDAY_0200],
      ['0 2 * * 7', '2026-11-22T02:00Z'],
      ['0 2 * * 1-5', MONDAY_0200],
      ['@daily', '2026-11-23T00:00Z'],
      ['@hourly', '2026-11-23T17:00Z'],
    ];
    for (const [cron, at] of matching) expect(fires(cron, at), cron).toBe(true);
    const misses: readonly (readonly [string, string])[] = [
      ['0 2 * * *', '2026-11-23T02:01Z'],
      ['5/20 * * * *', '2026-11-23T02:40Z'],
      ['0 0-6/2 * * *', '2026-11-23T03:00Z'],
      ['0 2 * * sat,sun', MONDAY_0200],
      ['@yearly', MONDAY_0200],
    ];
    for (const [cron, at] of misses) expect(fires(cron, at), cron).toBe(false);
  });

  it('with a day of month and a day of week needs both', () => {
    const friday13 = '0 2 13 * 5';
    expect(parseCron(friday13).needsBothDays).toBe(true);
    expect(fires(friday13, '2026-11-13T02:00Z')).toBe(true);
    expect(fires(friday13, '2026-07-13T02:00Z')).toBe(false);
    expect(fires(friday13, '2026-11-20T02:00Z')).toBe(false);
    expect(parseCron('0 2 * * 5').needsBothDays).toBe(false);
  });

  it('that fires in some years or months only is one', () => {
    for (const cron of ['0 2 29 2 *', '0 2 31 * *', '0 2 31 2,3 *', '0 2 30 4 *'])
      expect(parseCron(cron).fields).toBe(cron);
  });

  it('that is not one is refused with its fault', () => {
    const faults: readonly (readonly [string, RegExp])[] = [
      ['0 2 * *', /has 4 of 5 fields/],
      ['0 0 2 * * *', /has 6 of 5 fields/],
      ['60 2 * * *', /minute: 60/],
      ['0 2 0 * *', /is no rule/],
      ['0 5-3 * * *', /5-3/],
      ['0 2 * foo *', /foo/],
      ['0 2 * * 8', /dayOfWeek: 8/],
      ['*/0 * * * *', /stepping: 0/],
      ['*-5 * * * *', /is no rule/],
      ['0 2 1, * *', /day .* is empty/],
      ['0 2 L * *', /has L, which Temporal does not know/],
      ['0 2 * * 5#2', /has #/],
      ['0 2 * * 5L', /has 5L/],
      ['0 2 15W * *', /has 5W/],
      ['@every 1h', /has 2 of 5 fields/],
      ['CRON_TZ=UTC 0 2 * * *', /names a zone/],
      ['0 2 30 2 *', /never fires/],
      ['0 2 31 4,6,9,nov *', /never fires/],
      ['0 2 30,31 feb mon', /never fires/],
    ];
    for (const [cron, fault] of faults)
      expect(() => parseCron(cron), cron).toThrow(
        expect.objectContaining({ code: 'E602', message: expect.stringMatching(fault) }),
      );
  });

  it('is on the clock of its zone, in whole minutes', () => {
    expect(fires('0 2 * * *', '2026-11-23T01:00:00Z', 'Europe/Paris')).toBe(true);
    expect(fires('0 2 * * *', '2026-11-23T02:00:00Z', 'Europe/Paris')).toBe(false);
    expect(fires('0 2 * * *', '2026-07-01T00:00:00Z', 'Europe/Paris')).toBe(true);
    expect(fires('0 2 * * *', '2026-11-23T01:00:01Z', 'Europe/Paris')).toBe(false);
  });
});
