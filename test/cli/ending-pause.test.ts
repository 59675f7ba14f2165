import { describe, expect, it } from 'vitest';
import type { PauseKind } from '../../src/batch/pausing/pause-kinds.ts';
import { EndingPause } from '../../src/cli/follow/follow.ts';

const LOCAL = { endsServers: true, listGapMs: 1_000 };
const IDLE = { sending: 0, running: 0, collecting: 0 };
const RUNNING = { ...IDLE, state: 'running', pauses: [] } as const;
const pausedFor = (...kinds: PauseKind[]) => ({
  ...IDLE,
  state: 'paused' as const,
  pauses: kinds.map((kind) => ({ kind, reason: '', since: 0 })),
});

describe('a command that follows a paused batch', () => {
  it('gives its own servers the time to read the run lists again, and ends if they resolve nothing', () => {
    const pause = new EndingPause(LOCAL);
    expect(pause.ends(pausedFor('unconfirmed'), 0)).toBe(false);
    expect(pause.ends(pausedFor('unconfirmed'), 32_999)).toBe(false);
    expect(pause.ends(pausedFor('unconfirmed'), 33_000)).toBe(true);
  });

  it('gives that time again after the batch went on', () => {
    const pause = new EndingPause(LOCAL);
    expect(pause.ends(pausedFor('unconfirmed'), 0)).toBe(false);
    expect(pause.ends(RUNNING, 20_000)).toBe(false);
    expect(pause.ends(pausedFor('unconfirmed'), 40_000)).toBe(false);
  });

  it('ends immediately if others run the servers, or if there is another reason', () => {
    expect(new EndingPause({ ...LOCAL, endsServers: false }).ends(pausedFor('unconfirmed'), 0)).toBe(true);
    expect(new EndingPause(LOCAL).ends(pausedFor('unconfirmed', 'blocked'), 0)).toBe(true);
  });

  it('waits for the runs that were sent before a user paused it', () => {
    const pause = new EndingPause(LOCAL);
    expect(pause.ends({ ...pausedFor('user'), running: 1 }, 0)).toBe(false);
    expect(pause.ends(pausedFor('user'), 1)).toBe(true);
  });
});
