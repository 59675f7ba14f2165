import { describe, expect, it } from 'vitest';
import { parseCron, type WallTime, isOnRule, zoneOf } from '../../src/schedule/cron.ts';

const MONDAY_0200: WallTime = { month: 11, day: 23, weekday: 1, hour: 2, minute: 0 };
const at = (more: Partial<WallTime>): WallTime => ({ ...MONDAY_0200, ...more });

describe('a cron rule', () => {
  it('matches values, lists, ranges, steps and names', () => {
    const matching: readonly (readonly [string, WallTime])[] = [
      ['0 2 * * *', MONDAY_0200],
      ['*/15 * * * *', at({ minute: 45 })],
      ['5/20 * * * *', at({ minute: 45 })],
      ['0 1-3 * * *', MONDAY_0200],
      ['0 0-6/2 * * *', MONDAY_0200],
      ['0 2 1,23 NOV mon', MONDAY_0200],
      ['0 2 * * 7', at({ weekday: 0 })],
      ['0 2 * * 1-5', MONDAY_0200],
      ['@daily', at({ hour: 0 })],
      ['@hourly', at({ hour: 17 })],
    ];
    for (const [cron, time] of matching) expect(parseCron(cron).matches(time), cron).toBe(true);
    const others: readonly (readonly [string, WallTime])[] = [
      ['0 2 * * *', at({ minute: 1 })],
      ['5/20 * * * *', at({ minute: 40 })],
      ['0 0-6/2 * * *', at({ hour: 3 })],
      ['0 2 * * sat,sun', MONDAY_0200],
      ['@yearly', MONDAY_0200],
    ];
    for (const [cron, time] of others) expect(parseCron(cron).matches(time), cron).toBe(false);
  });

  it('with a day of month and a day of week needs both', () => {
    const friday13 = parseCron('0 2 13 * 5');
    expect(friday13.needsBothDays).toBe(true);
    expect(friday13.matches(at({ day: 13, weekday: 5 }))).toBe(true);
    expect(friday13.matches(at({ day: 13, weekday: 1 }))).toBe(false);
    expect(friday13.matches(at({ day: 20, weekday: 5 }))).toBe(false);
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
      ['60 2 * * *', /has 60 as minute/],
      ['0 2 0 * *', /has 0 as day of month/],
      ['0 5-3 * * *', /has 5-3 as hour/],
      ['0 2 * foo *', /has foo as month/],
      ['0 2 * * 8', /has 8 as day of week/],
      ['*/0 * * * *', /has \*\/0 as minute/],
      ['*-5 * * * *', /has \*-5 as minute/],
      ['0 2 1, * *', /has nothing as day of month/],
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
    const cron = parseCron('0 2 * * *');
    const paris = zoneOf('Europe/Paris');
    expect(isOnRule(cron, paris, Date.parse('2026-11-23T01:00:00Z'))).toBe(true);
    expect(isOnRule(cron, paris, Date.parse('2026-11-23T02:00:00Z'))).toBe(false);
    expect(isOnRule(cron, paris, Date.parse('2026-07-01T00:00:00Z'))).toBe(true);
    expect(isOnRule(cron, paris, Date.parse('2026-11-23T01:00:01Z'))).toBe(false);
  });
});
