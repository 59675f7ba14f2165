import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLog } from '../../src/host/log.ts';

describe('the log', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const opened = () => {
    const lines: { msg: string; times?: number; reason?: string }[] = [];
    const to = { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) };
    return { log: openLog('warn', 'test', to), lines };
  };
  const ID = () => crypto.randomUUID();

  it('has a warning with one reason once, then once a minute with the number since, then anew', () => {
    const { log, lines } = opened();
    const warn = () => log.warn({ reason: `run ${ID()} cannot be read: 401 after ${Math.random()} s` }, 'no');
    for (let n = 0; n < 21; n += 1) warn();
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    expect(lines.map(({ times }) => times)).toEqual([undefined, 20]);
    warn();
    vi.advanceTimersByTime(60_000);
    expect(lines.map(({ times }) => times)).toEqual([undefined, 20, 1]);
    vi.advanceTimersByTime(600_000);
    warn();
    expect(lines.map(({ times }) => times)).toEqual([undefined, 20, 1, undefined]);
  });

  it('has every warning with another reason, batch or text, and every one without a reason', () => {
    const { log, lines } = opened();
    for (const reason of ['401', 'away']) for (const batch of ['a', 'b']) log.warn({ reason, batch }, 'no');
    log.warn({ reason: 'away', batch: 'a' }, 'another');
    for (let n = 0; n < 3; n += 1) log.warn({ run: ID() }, 'a run ended late');
    for (let n = 0; n < 3; n += 1) log.warn('plain');
    expect(lines).toHaveLength(11);
  });

  it('does not keep reasons without end', () => {
    const { log, lines } = opened();
    for (let n = 0; n < 1_100; n += 1) log.warn({ reason: 'x'.repeat(n) }, 'no');
    expect(lines).toHaveLength(1_100);
    expect(vi.getTimerCount()).toBe(1_000);
  });
});
