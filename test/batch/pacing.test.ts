import { describe, expect, it } from 'vitest';
import { PACE_GAP_FIRST_MS, PACE_GAP_MAX_MS } from '../../src/batch/limits.ts';
import type { Answer } from '../../src/batch/messages.ts';
import { adapt, allowedByPace, NO_PACE, spend } from '../../src/batch/pacing.ts';
import { begin, type State } from '../../src/batch/state.ts';
import { orderOf, World } from './world.ts';

const stateAt = (now: number): State => begin(orderOf(), now);

describe('the pace', () => {
  it('is none until the service complains, doubles its gap with each complaint, and comes back step by step', () => {
    const state = stateAt(0);
    adapt(state, false);
    expect([state.pace, allowedByPace(state)]).toEqual([NO_PACE, Number.POSITIVE_INFINITY]);
    for (let time = 0; time < 3; time += 1) adapt(state, true);
    expect(state.pace.gapMs).toBe(4 * PACE_GAP_FIRST_MS);
    for (let time = 0; time < 30; time += 1) adapt(state, true);
    expect(state.pace.gapMs).toBe(PACE_GAP_MAX_MS);
    let groups = 0;
    for (; state.pace.gapMs > 0; groups += 1) adapt(state, false);
    expect(groups).toBe(31);
  });

  it('lets one attempt through each gap, and saves up no time that was not used', () => {
    const state = stateAt(0);
    adapt(state, true);
    expect(allowedByPace(state)).toBe(0);
    state.now = PACE_GAP_FIRST_MS;
    expect(allowedByPace(state)).toBe(1);
    spend(state, 0);
    spend(state, 1);
    expect(allowedByPace(state)).toBe(0);
    state.now += 3 * PACE_GAP_FIRST_MS;
    expect(allowedByPace(state)).toBe(3);
    spend(state, 1);
    expect(allowedByPace(state)).toBe(0);
  });

  it('is shared by all groups, and counts nothing against a row', () => {
    const world = new World({ rows: 100, cap: 64 });
    const answersOf = (index: number, became: 'accepted' | 'not-processed'): readonly Answer[] =>
      world.sends[index]?.attempts.map((name) =>
        became === 'accepted'
          ? { ...name, became, runId: `r${name.row}` }
          : { ...name, became, retryAfterMs: 0 },
      ) ?? [];
    const tell = (became: 'accepted' | 'not-processed'): void => {
      const answers = answersOf(0, became);
      const send = world.sends.shift();
      world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers, rest: 'uncertain' });
    };
    tell('not-processed');
    tell('accepted');
    expect(world.sends).toHaveLength(0);
    expect(world.workAt - world.now).toBe(PACE_GAP_FIRST_MS);
    world.pass(PACE_GAP_FIRST_MS);
    expect(world.sends.map(({ attempts }) => attempts)).toEqual([[{ row: 1, attempt: 1 }]]);
    expect(world.state.entries.get(1)).toMatchObject({ tries: 0, past: [] });
    world.tell({ type: 'resume' });
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(32);
  });
});
