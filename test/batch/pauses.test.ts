import { describe, expect, it } from 'vitest';
import { pauseHint } from '../../src/batch/pausing/pause-hints.ts';
import { BY_RESUME_ONLY, PAUSE_KINDS, type PauseKind } from '../../src/batch/pausing/pause-kinds.ts';
import {
  pause,
  MAX_PROBE_MS,
  PROBE_MS,
  probeAt,
  probed,
  sendingProbeAt,
  unpause,
} from '../../src/batch/pausing/pauses.ts';
import { begin } from '../../src/batch/state/state.ts';
import { paramsOf } from './params.ts';

const NEVER = Number.POSITIVE_INFINITY;

describe('pauses', () => {
  it('the pauses of a batch hold side by side, and each ends on its own', () => {
    const state = begin(paramsOf(), 1, 0);
    pause(state, 'blocked', '401');
    pause(state, 'store', 'ENOSPC');
    unpause(state, 'blocked', 'unreachable');
    expect([...state.pauses.keys()]).toEqual(['store']);
  });

  it('the pauses of a batch keep the first reason of a kind, and the time from which it holds', () => {
    const state = begin(paramsOf(), 1, 0);
    pause(state, 'blocked', 'the first');
    state.wallAt = 9;
    pause(state, 'blocked', 'the second');
    expect(state.pauses.get('blocked')).toMatchObject({ reason: 'the first', sinceWallAt: 0 });
  });

  it('the pauses of a batch are probed after a quarter of a minute, then each time after twice as long, up to five minutes', () => {
    const state = begin(paramsOf(), 1, 0);
    pause(state, 'store', 'ENOSPC');
    const waits: number[] = [];
    for (let probe = 0; probe < 30; probe += 1) {
      waits.push(probeAt(state, 'store') - state.now);
      state.now = probeAt(state, 'store');
      probed(state, 'store', 'files');
    }
    expect(waits.slice(0, 3)).toEqual([PROBE_MS, 2 * PROBE_MS, 4 * PROBE_MS]);
    expect(waits.at(-1)).toBe(MAX_PROBE_MS);
  });

  it('the pauses of a batch are not probed while they do not hold', () => {
    expect(probeAt(begin(paramsOf(), 1, 0), 'files')).toBe(NEVER);
  });

  it('the pauses of a batch let an attempt probe only where nothing but sending is what went wrong, at the latest of the times', () => {
    const state = begin(paramsOf(), 1, 0);
    pause(state, 'blocked', '401');
    state.now = 5;
    pause(state, 'unreachable', 'ECONNREFUSED');
    expect(sendingProbeAt(state)).toBe(5 + PROBE_MS);
    for (const kind of ['store', 'files', 'unreadable', 'unconfirmed'] as const) {
      pause(state, kind, 'something else');
      expect(sendingProbeAt(state), kind).toBe(NEVER);
      unpause(state, kind);
    }
  });

  it('the pauses of a batch forbid an attempt also if the other pause came first', () => {
    const state = begin(paramsOf(), 1, 0);
    pause(state, 'files', 'the host is away');
    pause(state, 'blocked', '401');
    expect(sendingProbeAt(state)).toBe(NEVER);
  });
});

describe('the hint of a paused batch', () => {
  it.each(PAUSE_KINDS)(
    'ends with the command that continues it, and promises nothing after the servers: %s',
    (kind) => {
      const [alone, ended] = [pauseHint('b', { kind }), pauseHint('b', { kind }, true)];
      for (const hint of [alone, ended]) expect(hint).toContain('runsheet resume b');
      expect(ended).not.toContain('automatically');
      expect(alone.includes('automatically')).toBe(
        kind !== 'blocked' && kind !== 'unconfirmed' && !BY_RESUME_ONLY.has(kind),
      );
    },
  );

  it('of a budget names what all rows need, in whole cents, or no limit if that is not known', () => {
    expect(pauseHint('b', { kind: 'budget' }, true, 7_250_000_001)).toMatch(
      /: runsheet resume b --max-cost 7.26$/,
    );
    expect(pauseHint('b', { kind: 'budget' })).toMatch(/: runsheet resume b --max-cost none$/);
  });

  it.each(['unreadable', 'unreachable'] as const)(
    'names the setting of the folder, not that of the key, if a worker cannot use the folder: %s',
    (kind) => {
      const reason = 'runs cannot be read: this worker may not use /a/b: it is not in /c (E411)';
      const hint = pauseHint('b', { kind, reason });
      expect(hint).toContain(
        'RUNSHEET_OUT of this batch; to see which has another one: runsheet doctor --cluster;',
      );
      expect(hint).not.toContain('RUNSHEET_API_KEY');
      expect(pauseHint('b', { kind, reason }, true)).toMatch(/, then: runsheet resume b$/);
    },
  );

  it('also exists for an unknown kind of pause from a newer worker', () => {
    expect(pauseHint('b', { kind: 'new' as PauseKind })).toBe(pauseHint('b'));
  });
});
