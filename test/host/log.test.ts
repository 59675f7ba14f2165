import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runInNewContext } from 'node:vm';
import { keepSecret } from '../../src/errors/redact.ts';
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

  it.each([
    ['error', (error: Error) => ({ error })],
    ['err', (error: Error) => ({ err: error })],
    ['a list', (error: Error) => ({ failures: [{ cause: error }] })],
    ['another realm', () => ({ error: runInNewContext('new TypeError("no version 7")') as Error })],
    ['a cause', (error: Error) => ({ error: new Error('the task failed', { cause: error }) })],
  ])('says the message and the stack of an error under any name: %s', (_, factsOf) => {
    const { log, lines } = opened();
    log.error(factsOf(new TypeError('no version 7')), 'a task failed');
    const [line] = lines;
    expect(JSON.stringify(line)).toMatch(/"message":"no version 7","stack":"TypeError: no version 7\\n +at /);
    expect(JSON.stringify(line)).not.toContain('{}');
  });

  it('has an error that repeats once a minute', () => {
    const { log, lines } = opened();
    for (let n = 0; n < 5; n += 1) log.error({ error: new Error('no version 7') }, 'a task failed');
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    expect(lines.map(({ times }) => times)).toEqual([undefined, 4]);
  });

  it('removes secrets from the message and the stack of an error', () => {
    const { log, lines } = opened();
    keepSecret('the-key-of-a-user-1234');
    log.error({ error: new Error('refused the-key-of-a-user-1234') }, 'a task failed');
    expect(JSON.stringify(lines)).not.toContain('the-key-of-a-user-1234');
  });
});
