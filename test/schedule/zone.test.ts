import { describe, expect, it } from 'vitest';
import { parseCron } from '../../src/schedule/cron.ts';
import { clockChanges, instantOf, shown, zoneOf } from '../../src/schedule/zone.ts';
import { changeText } from '../../src/cli/schedule/schedule-text.ts';

const NOVEMBER = Date.parse('2026-11-22T12:00:00Z');
/** With a server that fires a time that comes twice at both moments. */
function textsOf(cron: string, name: string): readonly string[] {
  const zone = zoneOf(name);
  return clockChanges(parseCron(cron), zone, NOVEMBER).map((change) => {
    const times =
      change.what === 'skipped' ? [] : change.times.map((time) => instantOf(zone, time.getTime()));
    const fires = times.flatMap((at) => [new Date(at), new Date(at + change.byMs)]);
    return changeText(zone, { ...change, fires });
  });
}

describe('the clock of a zone', () => {
  it('skips and repeats the times of a rule when it is set forward and back', () => {
    expect(textsOf('30 2 * * *', 'Europe/Paris')).toEqual([
      '02:30 does not exist on 2027-03-28: skipped',
      '02:30 comes twice on 2027-10-31: fires twice',
    ]);
    expect(textsOf('30 2 * * *', 'America/New_York')).toEqual([
      '02:30 does not exist on 2027-03-14: skipped',
    ]);
    expect(textsOf('30 1 * * *', 'America/New_York')).toEqual([
      '01:30 comes twice on 2027-11-07: fires twice',
    ]);
    expect(textsOf('*/20 2 * * *', 'Europe/Paris')[0]).toBe(
      '02:00 to 02:40 (3 times) do not exist on 2027-03-28: skipped',
    );
  });

  it('names the moments at which the server fires, if they are not both', () => {
    const zone = zoneOf('Europe/Paris');
    const [, back] = clockChanges(parseCron('30 2 * * *'), zone, NOVEMBER);
    if (back === undefined) throw new Error('no change was found');
    expect(changeText(zone, { ...back, fires: [new Date('2027-10-31T01:30:00Z')] })).toBe(
      '02:30 comes twice on 2027-10-31: Temporal fires at 02:30 (UTC+1)',
    );
    expect(changeText(zone, { ...back, fires: [] })).toMatch(/fires at none of them$/);
  });

  it('names no change that the rule does not meet', () => {
    expect(textsOf('0 3 * * *', 'Europe/Paris')).toEqual([]);
    expect(textsOf('30 2 * * 1-5', 'Europe/Paris')).toEqual([]);
    expect(textsOf('30 2 * * *', 'Asia/Tokyo')).toEqual([]);
  });

  it('may move by half an hour', () => {
    // Lord Howe Island moves from 02:00 to 02:30 on 2027-10-03, and from 02:00 to 01:30 on 2027-04-04.
    expect(textsOf('15,45 1,2 * * *', 'Australia/Lord_Howe')).toEqual([
      '01:45 comes twice on 2027-04-04: fires twice',
      '02:15 does not exist on 2027-10-03: skipped',
    ]);
  });

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
