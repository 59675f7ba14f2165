import { describe, expect, it } from 'vitest';
import { instantOf, shown, zoneOf } from '../../src/schedule/cron.ts';

describe('the clock of a zone', () => {
  it('gives the moment of a time, the earlier one if it comes twice', () => {
    const paris = zoneOf('Europe/Paris');
    const momentOf = (clock: string): string =>
      new Date(instantOf(paris, Date.parse(`${clock}Z`))).toISOString();
    expect(momentOf('2026-11-23T02:00')).toBe('2026-11-23T01:00:00.000Z');
    expect(momentOf('2027-10-31T02:30')).toBe('2027-10-31T00:30:00.000Z');
    expect(momentOf('2027-03-28T02:30')).toMatch(/^2027-03-28T0[01]:30/);
    expect(shown(paris, Date.parse('2026-11-23T01:00:00Z')).toISOString()).toBe('2026-11-23T02:00:00.000Z');
  });

  it('has the name that Temporal knows, which cares for the case of letters', () => {
    expect(zoneOf('europe/paris').name).toBe('Europe/Paris');
    expect(zoneOf('utc').name).toBe('UTC');
    expect(zoneOf('US/Pacific').name).toBe('US/Pacific');
    expect(zoneOf('us/pacific').name).toBe('America/Los_Angeles');
  });

  it.each(['+02:00', '-05:00', '+01'])(
    'that is the offset %s is refused, because Temporal knows none',
    (name) => {
      expect(() => zoneOf(name)).toThrow(`--tz ${name} is not a time zone`);
    },
  );

  it('of an unknown zone is refused', () => {
    expect(() => zoneOf('Europe/Pariss')).toThrow(
      expect.objectContaining({ code: 'E602', message: '--tz Europe/Pariss is not a time zone' }),
    );
  });
});
