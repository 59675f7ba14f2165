import { describe, expect, it } from 'vitest';
import { PAUSE_KINDS, pauseHint, type PauseKind } from '../../src/batch/pausing/pause-kinds.ts';

describe('the hint of a paused batch', () => {
  it.each(PAUSE_KINDS)(
    'ends with the command that continues it, and promises nothing after the servers: %s',
    (kind) => {
      const [alone, ended] = [pauseHint('b', kind), pauseHint('b', kind, true)];
      for (const hint of [alone, ended]) expect(hint).toContain('runsheet resume b');
      expect(ended).not.toContain('automatically');
      expect(alone.includes('automatically')).toBe(
        !['blocked', 'unconfirmed', 'user', 'failures', 'deadline', 'budget', 'canary'].includes(kind),
      );
    },
  );

  it('of a budget names twice the limit', () => {
    expect(pauseHint('b', 'budget', true, 7_250_000_000)).toContain('runsheet resume b --max-cost 14.5');
    expect(pauseHint('b', 'budget')).toContain('--max-cost <usd>');
  });

  it('also exists for an unknown kind of pause from a newer worker', () => {
    expect(pauseHint('b', 'new' as PauseKind)).toBe(pauseHint('b'));
  });
});
