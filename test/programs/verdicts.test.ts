// The decisions about tries and about processes that stay, as tables: facts on the left, verdict on the right.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  processVerdict,
  type ProcessFacts,
} from '../../src/run-service/executors/program/process-verdict.ts';
import { tryVerdict, type TryFacts } from '../../src/run-service/executors/program/try-verdict.ts';

const ANSWER = { kind: 'ok', atMs: 7 } as const;

/** A try that was claimed by a process of its own, which lives. */
const TRY: TryFacts = {
  stays: false,
  isClaimed: true,
  mayBegin: true,
  isAlive: true,
  exitCode: undefined,
  isAtLimit: false,
  isUndelivered: false,
  answer: undefined,
};
const STAYS = { ...TRY, stays: true };
const DEAD = { isAlive: false } as const;

it.each<readonly [string, TryFacts, object]>([
  ['lives', TRY, { kind: 'running' }],
  ['was started and has not claimed its try', { ...TRY, isClaimed: false }, { kind: 'running' }],
  ['exited', { ...TRY, exitCode: 3 }, { kind: 'exited', code: 3 }],
  ['exited and left a child', { ...TRY, exitCode: 0, isAlive: true }, { kind: 'exited', code: 0 }],
  ['was ended at its limit', { ...TRY, ...DEAD, isAtLimit: true }, { kind: 'timeout' }],
  ['exited at its limit', { ...TRY, exitCode: 143, isAtLimit: true }, { kind: 'timeout' }],
  ['is being ended at its limit', { ...TRY, isAtLimit: true }, { kind: 'running' }],
  ['is gone without an exit', { ...TRY, ...DEAD }, { kind: 'lost' }],
  ['never began', { ...TRY, ...DEAD, isClaimed: false }, { kind: 'unclaimed' }],
])('a process of one run that %s is told as such', (_, facts, verdict) => {
  expect(tryVerdict(facts)).toEqual(verdict);
});

it.each<readonly [string, TryFacts, object]>([
  ['has its run in hand', STAYS, { kind: 'running' }],
  ['is about to get its run', { ...STAYS, isClaimed: false }, { kind: 'waiting' }],
  [
    'has lost its service before it got the run',
    { ...STAYS, isClaimed: false, mayBegin: false },
    { kind: 'unclaimed' },
  ],
  ['was over before it got the run', { ...STAYS, isClaimed: false, exitCode: 0 }, { kind: 'unclaimed' }],
  ['closed its input before it got the run', { ...STAYS, isUndelivered: true }, { kind: 'undelivered' }],
  ['has answered', { ...STAYS, answer: ANSWER }, { kind: 'answered', answer: ANSWER }],
  [
    'has answered and died',
    { ...STAYS, ...DEAD, exitCode: 1, answer: ANSWER },
    { kind: 'answered', answer: ANSWER },
  ],
  [
    'has answered at its limit',
    { ...STAYS, isAtLimit: true, answer: ANSWER },
    { kind: 'answered', answer: ANSWER },
  ],
  ['died with its run', { ...STAYS, ...DEAD, exitCode: 137 }, { kind: 'exited', code: 137 }],
  ['exited with its run', { ...STAYS, ...DEAD, exitCode: 0 }, { kind: 'exited', code: 0 }],
  [
    'was ended at the limit of its run',
    { ...STAYS, ...DEAD, exitCode: 143, isAtLimit: true },
    { kind: 'timeout' },
  ],
  ['is gone without an exit', { ...STAYS, ...DEAD }, { kind: 'lost' }],
])('a process that stays and %s is told as such', (_, facts, verdict) => {
  expect(tryVerdict(facts)).toEqual(verdict);
});

const tryFacts = fc.record<TryFacts>({
  stays: fc.boolean(),
  isClaimed: fc.boolean(),
  mayBegin: fc.boolean(),
  isAlive: fc.boolean(),
  exitCode: fc.option(fc.constantFrom(0, 1, 75, 126, 127, 137, 143), { nil: undefined }),
  isAtLimit: fc.boolean(),
  isUndelivered: fc.boolean(),
  answer: fc.option(fc.constant(ANSWER), { nil: undefined }),
});

it('an answer always counts, and nothing that may still execute is called lost or unclaimed', () => {
  fc.assert(
    fc.property(tryFacts, (facts) => {
      const { kind } = tryVerdict(facts);
      const mayExecute =
        facts.isAlive && facts.exitCode === undefined && facts.isClaimed && !facts.isUndelivered;
      const only = facts.answer === undefined ? (mayExecute ? 'running' : kind) : 'answered';
      expect(kind).toBe(only);
    }),
  );
});

/** A process that loads. */
const LOADS: ProcessFacts = {
  isAlive: true,
  exitCode: undefined,
  isEnding: false,
  isReady: false,
  isLeaving: false,
  hasAnswered: false,
  isBusy: false,
  forMs: 12_000,
  deaths: 0,
  readyMs: 600_000,
  endText: 'the program exited with 1: no such model',
};
const READY = { ...LOADS, isReady: true };
const GONE = { ...LOADS, isAlive: false, exitCode: 1 };

it.each<readonly [string, ProcessFacts, object]>([
  ['loads', LOADS, { kind: 'wait', deaths: 0, reason: 'the program loads, for 12 s now' }],
  ['loads after two deaths', { ...LOADS, deaths: 2 }, { kind: 'wait', deaths: 2 }],
  ['is ready', READY, { kind: 'ready' }],
  ['is ready after it took long', { ...READY, forMs: 900_000 }, { kind: 'ready' }],
  ['has a run', { ...READY, isBusy: true }, { kind: 'wait' }],
  ['is leaving', { ...READY, isLeaving: true, hasAnswered: true }, { kind: 'gone', deaths: 0 }],
  ['is leaving with a run', { ...READY, isLeaving: true, hasAnswered: true, isBusy: true }, { kind: 'wait' }],
  [
    'is not ready in time',
    { ...LOADS, forMs: 600_000 },
    { kind: 'blocked', reason: expect.stringContaining('within 10 min') },
  ],
  ['is being ended', { ...READY, isEnding: true }, { kind: 'wait' }],
  ['died while it loaded', GONE, { kind: 'gone', deaths: 1 }],
  [
    'died while it loaded, twice before',
    { ...GONE, deaths: 2 },
    { kind: 'blocked', deaths: 3, reason: expect.stringContaining('no such model') },
  ],
  ['died idle before any answer', { ...GONE, isReady: true }, { kind: 'gone', deaths: 1 }],
  [
    'died idle after an answer',
    { ...GONE, isReady: true, hasAnswered: true, deaths: 2 },
    { kind: 'gone', deaths: 0 },
  ],
  [
    'died with its first run',
    { ...GONE, isReady: true, isBusy: true, deaths: 2 },
    { kind: 'gone', deaths: 2 },
  ],
  ['exited at once with 127', { ...GONE, exitCode: 127 }, { kind: 'blocked', deaths: 1 }],
  ['asks to be started later', { ...GONE, exitCode: 75, deaths: 1 }, { kind: 'postponed', deaths: 1 }],
  ['was killed with its shim', { ...GONE, exitCode: undefined }, { kind: 'gone', deaths: 1 }],
  [
    'was ended by its service',
    { ...GONE, isReady: true, isBusy: true, isEnding: true },
    { kind: 'gone', deaths: 0 },
  ],
])('a process that stays and %s gets its verdict', (_, facts, verdict) => {
  expect(processVerdict(facts)).toMatchObject(verdict);
});

it('no program is started more than three times in a row without an answer', () => {
  const end = fc.record({ exitCode: fc.constantFrom(0, 1, 137), isReady: fc.boolean() });
  fc.assert(
    fc.property(fc.array(end, { minLength: 3 }), (ends) => {
      let deaths = 0;
      const kinds = ends.map((facts) => {
        const verdict = processVerdict({ ...GONE, ...facts, deaths });
        deaths = verdict.deaths;
        return verdict.kind;
      });
      expect(kinds).toEqual(kinds.map((_, at) => (at < 2 ? 'gone' : 'blocked')));
    }),
  );
});
