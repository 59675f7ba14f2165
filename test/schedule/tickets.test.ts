import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleDefinition } from '../../src/schedule/schedule-definition.ts';
import { openTickets, type TicketFolder } from '../../src/schedule/tickets.ts';
import { definitionOf } from './definition.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const MINUTE = 60_000;
/** Every minute, so that each whole minute is on the rule. */
const minutely = definitionOf({ cron: '* * * * *', catchupMs: 10 * MINUTE });
const nightly = definitionOf({ timezone: 'UTC' });
const minuteAfter = (at: number): number => Math.ceil(at / MINUTE) * MINUTE;

let home: string;
let tickets: TicketFolder;
beforeEach(() => {
  home = freshFolder();
  tickets = openTickets(home);
});

const refusal = (definition: ScheduleDefinition, nominalTime: number, now: number, run = 'own run') =>
  tickets.refusal(definition, { nominalTime, run }, now);

describe('a firing on the rule', () => {
  it('is accepted at its time and late, but not before the schedule was made', () => {
    tickets.write(minutely);
    const next = minuteAfter(Date.now());
    expect(refusal(minutely, next, next)).toBeUndefined();
    expect(refusal(minutely, next, next + 10 * MINUTE)).toBeUndefined();
    expect(refusal(minutely, next - 10 * MINUTE, next)).toMatch(/before the schedule was made/);
  });

  it('is refused off the rule, ahead of its time and too long after it', () => {
    tickets.write(minutely);
    const next = minuteAfter(Date.now());
    expect(refusal(minutely, next + 1_000, next + MINUTE)).toMatch(/not on its rule/);
    expect(refusal(minutely, next + 5 * MINUTE, next)).toMatch(/has not come yet/);
    expect(refusal(minutely, next, next + 2 * 86_400_000)).toMatch(/too long ago/);
    const buffered = { ...minutely, overlap: 'buffer' } as const;
    tickets.write(buffered);
    expect(refusal(buffered, next, next + 2 * 86_400_000)).toBeUndefined();
  });

  it('is refused without a ticket, and with settings that runsheet did not write', () => {
    const next = minuteAfter(Date.now());
    expect(refusal(minutely, next, next)).toMatch(/no ticket/);
    tickets.write(minutely);
    const moved = { ...minutely, sheet: '/data/other.csv' };
    expect(refusal(moved, next, next)).toMatch(/changed without runsheet/);
    tickets.remove(minutely.name);
    expect(refusal(minutely, next, next)).toMatch(/no ticket/);
  });

  it('is refused in a pause, which a replaced schedule keeps', () => {
    tickets.write(minutely);
    tickets.pause(minutely.name, true);
    const later = minuteAfter(Date.now()) + MINUTE;
    expect(refusal(minutely, later, later)).toBe('the schedule is paused');
    const replaced = { ...minutely, reuse: true };
    tickets.write(replaced);
    expect(refusal(replaced, later, later)).toBe('the schedule is paused');
    tickets.pause(minutely.name, false);
    expect(refusal(replaced, later, later)).toBeUndefined();
  });
});

describe('a firing that was accepted', () => {
  it('goes on as it was when the schedule is changed, and lets no other pass', () => {
    tickets.write(minutely);
    const next = minuteAfter(Date.now());
    expect(refusal(minutely, next, next)).toBeUndefined();
    const changed = { ...minutely, reuse: true };
    tickets.write(changed);
    tickets.write({ ...changed, cron: '0 2 * * *' });
    expect(refusal(minutely, next, next + MINUTE)).toBeUndefined();
    expect(tickets.isLast(minutely, { nominalTime: next, run: 'own run' })).toBe(true);
    expect(refusal(minutely, next, next + MINUTE, 'another run')).toMatch(/changed without runsheet/);
    expect(refusal(minutely, next + MINUTE, next + MINUTE)).toMatch(/changed without runsheet/);
    expect(refusal({ ...minutely, sheet: '/other.csv' }, next, next)).toMatch(/changed without runsheet/);
  });
});

describe('what follows a firing', () => {
  it('is allowed only for the run that was accepted last, with the settings of its ticket', () => {
    tickets.write(minutely);
    const nominalTime = minuteAfter(Date.now());
    const firing = { nominalTime, run: 'own run' };
    expect(tickets.isLast(minutely, firing)).toBe(false);
    expect(refusal(minutely, nominalTime, nominalTime)).toBeUndefined();
    expect(tickets.isLast(minutely, firing)).toBe(true);
    expect(tickets.isLast(minutely, { ...firing, run: 'stranger' })).toBe(false);
    expect(tickets.isLast({ ...minutely, reuse: true }, firing)).toBe(false);
    tickets.allow(minutely.name, { from: 1_000, to: 3_000, isOnRule: false });
    expect(refusal(minutely, 2_000, nominalTime, 'a trigger')).toBeUndefined();
    expect(tickets.isLast(minutely, { nominalTime: 2_000, run: 'a trigger' })).toBe(true);
  });
});

describe('a time that has fired', () => {
  it('is refused to another firing, also if its batch was removed; only its own tries are accepted', () => {
    tickets.write(minutely);
    const [first, second] = [minuteAfter(Date.now()), minuteAfter(Date.now()) + MINUTE];
    expect(refusal(minutely, second, second)).toBeUndefined();
    expect(refusal(minutely, second, second + 1_000)).toBeUndefined();
    expect(refusal(minutely, second, second, 'stranger')).toMatch(/is not after the last firing/);
    expect(refusal(minutely, first, second, 'stranger')).toMatch(/is not after the last firing/);
    const replaced = { ...minutely, reuse: true };
    tickets.write(replaced);
    expect(refusal(replaced, second, second, 'stranger')).toMatch(/is not after the last firing/);
    expect(refusal(replaced, second + MINUTE, second + MINUTE, 'next run')).toBeUndefined();
  });

  it('may fire again only if its user asks for it', () => {
    tickets.write(nightly);
    const days = {
      from: Date.parse('2026-11-01T00:00Z'),
      to: Date.parse('2026-11-03T00:00Z'),
      isOnRule: true,
    };
    const [first, second] = [Date.parse('2026-11-01T02:00Z'), Date.parse('2026-11-02T02:00Z')];
    for (const run of ['one', 'two']) {
      tickets.allow('nightly', days);
      expect(refusal(nightly, first, second, run)).toBeUndefined();
      expect(refusal(nightly, second, second, run)).toBeUndefined();
      expect(refusal(nightly, first, second, 'stranger')).toBeDefined();
      expect(refusal(nightly, second, second, 'stranger')).toBeDefined();
    }
  });
});

describe('a trigger', () => {
  it('allows one time off the rule, and a retry at that time', () => {
    tickets.write(nightly);
    const now = Date.now();
    tickets.allow('nightly', { from: now - MINUTE, to: now + MINUTE, isOnRule: false });
    const [first, second] = [now, now + 1_000];
    expect(refusal(nightly, first, now)).toBeUndefined();
    expect(refusal(nightly, first, now)).toBeUndefined();
    expect(refusal(nightly, second, now)).toMatch(/not on its rule/);
  });

  it('between two times allows those of the rule, and no others', () => {
    tickets.write(nightly);
    const [from, to] = [Date.parse('2026-11-01T00:00:00Z'), Date.parse('2026-11-03T00:00:00Z')];
    tickets.allow('nightly', { from, to, isOnRule: true });
    const now = Date.parse('2026-11-22T00:00:00Z');
    expect(refusal(nightly, Date.parse('2026-11-01T02:00:00Z'), now)).toBeUndefined();
    expect(refusal(nightly, Date.parse('2026-11-02T02:00:00Z'), now)).toBeUndefined();
    expect(refusal(nightly, Date.parse('2026-11-02T03:00:00Z'), now)).toMatch(/not on its rule/);
    expect(refusal(nightly, Date.parse('2026-11-03T02:00:00Z'), now)).toBeDefined();
  });
});

describe('several processes', () => {
  it('lose no change of each other', async () => {
    tickets.write(minutely);
    const code = `
      const { openTickets } = await import(process.argv[1]);
      const tickets = openTickets(process.argv[2]);
      const first = Number(process.argv[3]);
      for (let at = first; at < first + 5; at += 1) tickets.allow(process.argv[4], { from: at, to: at, isOnRule: false });
    `;
    const module = fileURLToPath(new URL('../../src/schedule/tickets.ts', import.meta.url));
    const allowing = [1_000, 2_000, 3_000, 4_000].map((first) =>
      promisify(execFile)(process.execPath, [
        '--input-type=module',
        '-e',
        code,
        module,
        home,
        String(first),
        minutely.name,
      ]),
    );
    await Promise.all(allowing);
    const times = [1_000, 2_000, 3_000, 4_000].flatMap((first) => [0, 1, 2, 3, 4].map((at) => first + at));
    expect(times.filter((time) => refusal(minutely, time, time) !== undefined)).toEqual([]);
  });
});
