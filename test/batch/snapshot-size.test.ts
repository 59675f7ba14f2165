import { describe, expect, it } from 'vitest';
import {
  COLLECTS_IN_FLIGHT,
  GROUP_ATTEMPTS,
  GROUPS_IN_FLIGHT,
  mostConcurrency,
  MAX_RESUBMITS,
  MAX_STATE_BYTES,
} from '../../src/batch/bounds.ts';
import {
  MAX_ABANDONED,
  MAX_CANCELS,
  MAX_EVIDENCE,
  MAX_REPORTED,
} from '../../src/batch/accounting/duplicates.ts';
import { MAX_RETRIES } from '../../src/options/bounds-and-defaults.ts';
import { unconfirmedRows, unsentPlaces } from '../../src/batch/state/state.ts';
import { isFull } from '../../src/batch/state/put-row.ts';
import { Crowd } from './crowd.ts';

const MILLIONS = 5_000_000;

/** The sizes that are too large: a payload has at most 2 MiB, and the state must keep its reserve. */
function excessOf({ encoded, state }: Crowd): readonly string[] {
  const excess = encoded < 2_000_000 ? [] : [`${encoded} bytes are encoded`];
  return state.bytes < 1.1 * MAX_STATE_BYTES ? excess : [...excess, `${state.bytes} bytes are counted`];
}

describe('size of a snapshot', () => {
  it('the largest state fits into a payload if all of its runs are unconfirmed, after ended rows have filled it', () => {
    const crowd = new Crowd(0, MILLIONS);
    const { state } = crowd;
    const inFlight = GROUPS_IN_FLIGHT * GROUP_ATTEMPTS;
    // The attempts in flight when the state is full become unconfirmed last. The store never responds.
    const next = (): 'rejected' | 'unconfirmed' => {
      if (isFull(state)) return 'unconfirmed';
      const isHalf = state.bytes > 0.49 * MAX_STATE_BYTES;
      return isHalf && state.phases.unconfirmed < mostConcurrency(0) - inFlight ? 'unconfirmed' : 'rejected';
    };
    while (state.groups.size > 0) crowd.answer(next);
    expect(state.phases.unconfirmed).toBeGreaterThan(0.95 * mostConcurrency(0));
    expect(state.phases.ended).toBeGreaterThan(500);
    expect(state.parts.size).toBe(COLLECTS_IN_FLIGHT);
    crowd.remember();
    expect([state.reported.size, state.abandoned.size]).toEqual([MAX_REPORTED, MAX_ABANDONED]);
    expect([state.evidence.size, state.cancels.size]).toEqual([MAX_EVIDENCE, MAX_CANCELS]);
    expect(excessOf(crowd)).toEqual([]);
  });

  it('the largest state fits into a payload if its runs take too long while other rows fill it', () => {
    const crowd = new Crowd(0, MILLIONS);
    const { state } = crowd;
    for (let before = -1; before !== unsentPlaces(state);) {
      before = unsentPlaces(state);
      crowd.answer((row) => (row % 2 === 0 ? 'accepted' : 'rejected'));
    }
    crowd.delayAll();
    expect(state.overdue.size).toBeGreaterThan(1_000);
    crowd.remember();
    expect(excessOf(crowd)).toEqual([]);
  });

  it.each([1, 2, 5, MAX_RETRIES])(
    'the largest state fits into a payload if each row has failed %d times, with a long reason each time',
    (retries) => {
      const crowd = new Crowd(retries, mostConcurrency(retries));
      crowd.answerAll('accepted');
      for (let time = 0; time < retries; time += 1) {
        crowd.failAll();
        crowd.pass(70_000);
        crowd.answerAll('accepted');
      }
      expect(crowd.runs.map(({ past }) => past.length)).toEqual(crowd.runs.map(() => retries));
      expect(crowd.runs).toHaveLength(mostConcurrency(retries));
      crowd.failAll();
      expect(crowd.state.parts.size).toBeGreaterThan(4);
      crowd.remember();
      expect(excessOf(crowd)).toEqual([]);
    },
  );

  it.each([0, 2, MAX_RETRIES])(
    'the largest state fits into a payload if each attempt is repeatedly proved absent, with %d retries',
    (retries) => {
      const crowd = new Crowd(retries, mostConcurrency(retries));
      for (let time = 0; time < 5; time += 1) {
        crowd.answerAll('unconfirmed');
        crowd.resolveAll('complete');
      }
      crowd.answerAll('unconfirmed');
      crowd.remember();
      expect(excessOf(crowd)).toEqual([]);
    },
  );

  it('the largest state fits into a payload if each row was resubmitted as often as it may be, and is unconfirmed again', () => {
    const crowd = new Crowd(0, mostConcurrency(0), 'resubmit');
    for (let time = 0; time < MAX_RESUBMITS; time += 1) {
      crowd.answerAll('unconfirmed');
      crowd.resolveAll('none');
    }
    crowd.answerAll('unconfirmed');
    expect(unconfirmedRows(crowd.state).map(({ past }) => past.length)).toEqual(
      unconfirmedRows(crowd.state).map(() => MAX_RESUBMITS),
    );
    crowd.remember();
    expect(excessOf(crowd)).toEqual([]);
  });

  it('the largest state fits into a payload if all of that has happened to each row', () => {
    const crowd = new Crowd(2, MILLIONS, 'resubmit');
    const fail = () => {
      crowd.failAll();
      crowd.pass(70_000);
    };
    const lose = (answer: 'complete' | 'none') => {
      crowd.answerAll('unconfirmed');
      crowd.resolveAll(answer);
    };
    for (let time = 0; time < MAX_RESUBMITS; time += 1) lose('none');
    lose('complete');
    crowd.answerAll('accepted');
    fail();
    crowd.answerAll('accepted');
    fail();
    crowd.answerAll('unconfirmed');
    crowd.remember();
    expect(excessOf(crowd)).toEqual([]);
  });
});
