import { describe, expect, it } from 'vitest';
import {
  rememberAbandoned,
  belongingOf,
  keepEvidence,
  reportDuplicate,
  MAX_ABANDONED,
  MAX_CANCELS,
  MAX_EVIDENCE,
  MAX_REPORTED,
} from '../../../src/batch/accounting/duplicates.ts';
import { begin } from '../../../src/batch/state/state.ts';
import { paramsOf } from '../params.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { readUntilResolved, running, runOfFirst, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const seen = (runId: string, attempt = 1) =>
  ({ type: 'runsSeen', runs: [runOfFirst(runId, attempt)] }) as const;
const completed = (runId: string) =>
  ({
    type: 'runsCompleted',
    by: 'webhook',
    completions: [{ ...runOfFirst(runId), outcome: 'succeeded' }],
  }) as const;
const cancelled = ({ cancels }: World): readonly string[] =>
  cancels.flatMap(({ runs }) => runs.map(({ runId }) => runId));
const evidence = ({ state }: World): readonly string[] => [...state.evidence.keys()];

describe('duplicate runs', () => {
  it('a second run of an attempt is cancelled, counted once and kept as evidence, and its end is not the end of the row', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply(seen('other'));
    world.apply(seen('other'));
    expect(cancelled(world)).toEqual(['other']);
    expect(world.state.ledger.duplicates).toBe(1);
    expect(evidence(world)).toEqual(['other']);
    world.apply(completed('other'));
    expect(world.runOf(1)).toBe('run-0');
    expect(world.state.ledger.duplicates).toBe(1);
    world.settle();
    expect(world.problems).toEqual([]);
    expect([...world.folder.evidence.keys()]).toEqual(['other']);
  });

  it('a second run of one attempt is cancelled again if it goes on after the service was asked to cancel it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply(seen('other'));
    world.cancel(false);
    expect(cancelled(world)).toEqual([]);
    world.apply(seen('other'));
    expect(cancelled(world)).toEqual(['other']);
  });

  it('of two runs that were seen before the response, the one that it does not name is the duplicate', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.apply(seen('other'), seen('run-0'), seen('run-0'));
    expect(world.state.ledger.duplicates).toBe(0);
    world.answer(0, ['accepted']);
    expect(world.runOf(1)).toBe('run-0');
    expect(cancelled(world)).toEqual(['other']);
  });

  it('of two runs that were seen, the later one is the duplicate if the response was lost', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.apply(seen('one'), seen('two'));
    world.end([]);
    expect(world.runOf(1)).toBe('one');
    expect(cancelled(world)).toEqual(['two']);
  });

  it('runs that go on are duplicates if another one of the attempt has ended before the response', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.apply(seen('slow'));
    world.apply(completed('fast'));
    expect(cancelled(world)).toEqual(['slow']);
    world.answer(0, ['accepted']);
    expect([...world.state.reported]).toEqual(['slow', 'run-0']);
  });
});

describe('belonging', () => {
  it('a row knows its run in each of its phases', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1 });
    const belonging = (runId: string, attempt = 1) => belongingOf(world.state, runOfFirst(runId, attempt));
    expect([belonging('run-0'), belonging('other'), belonging('early', 2)]).toEqual([
      'own',
      'duplicate',
      'later',
    ]);
    world.finish('run-0', 'failed');
    expect([belonging('run-0'), belonging('other'), belonging('early', 2)]).toEqual([
      'own',
      'duplicate',
      'open',
    ]);
    world.pass(2_000);
    expect(belonging('early', 2)).toBe('open');
    world.answer(0, ['dropped']);
    expect(belonging('early', 2)).toBe('open');
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-1', 2)] });
    world.apply({
      type: 'runsCompleted',
      by: 'poll',
      completions: [{ ...runOfFirst('run-1', 2), outcome: 'succeeded' }],
    });
    // First its part is being written, then the row is no longer in the state.
    expect(world.collects).toHaveLength(1);
    expect([belonging('run-1', 2), belonging('other', 2), belonging('late', 3)]).toEqual([
      'own',
      'duplicate',
      'later',
    ]);
    world.collect();
    expect([belonging('run-1', 2), belonging('other', 2)]).toEqual(['later', 'later']);
  });

  it('a row knows its run also while other rows are written', () => {
    const world = running({ rows: 1_000, concurrency: 150 });
    for (let run = 0; run < 100; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.collects).toHaveLength(1);
    expect(belongingOf(world.state, { place: 100, attempt: 1, runId: 'other' })).toBe('duplicate');
    expect(belongingOf(world.state, { place: 999, attempt: 1, runId: 'other' })).toBe('later');
  });
});

describe('abandoned attempts', () => {
  it('an attempt that was abandoned is remembered over a continue-as-new: its run is cancelled and reported when it turns up', () => {
    const world = unconfirmed();
    readUntilResolved(world);
    expect(world.state.ledger.absent).toBe(1);
    // The very first request of the batch got no clear answer.
    world.pass(PROBE_MS);
    world.answer(0, ['accepted']);
    world.continueAsNew();
    world.apply(seen('risen'));
    expect(cancelled(world)).toEqual(['risen']);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'running', attempt: 2 });
  });

  it('attempts that were abandoned are forgotten when there are too many, the oldest first', () => {
    const state = begin(paramsOf(), 1, 0);
    for (let row = 1; row <= MAX_ABANDONED + 1; row += 1)
      rememberAbandoned(state, { place: row, attempt: 1 });
    expect(belongingOf(state, { place: 1, attempt: 1, runId: 'r' })).toBe('later');
    expect(belongingOf(state, { place: 2, attempt: 1, runId: 'r' })).toBe('duplicate');
    expect(state.abandoned.size).toBe(MAX_ABANDONED);
  });
});

describe('evidence', () => {
  it('a run of a row that is collected is kept as evidence, whether it goes on or has ended', () => {
    const world = running({ rows: 5, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.collect();
    expect(world.state.rows.has(1)).toBe(false);
    world.apply(seen('one'), completed('two'));
    expect(evidence(world)).toEqual(['one', 'two']);
    expect(cancelled(world)).toEqual([]);
  });

  it('a run that is seen after the end, while the pool is still told of it, is written with the results once more', () => {
    const world = new World({ rows: 1, pool: 'shared' });
    world.apply({ type: 'grant', life: world.state.membership?.life ?? 0, epoch: 1, limit: 1 });
    world.settle();
    expect(world.state.finished).toBe(true);
    world.apply(seen('late'));
    expect(world.state.finished).toBe(false);
    expect(world.closes.map(({ evidence: kept }) => kept.map(({ runId }) => runId))).toEqual([['late']]);
    world.apply({ type: 'grant', life: world.state.membership?.life ?? 0, epoch: 1, limit: 1 });
    world.settle();
    expect(world.state.finished).toBe(true);
    expect(world.problems).toEqual([]);
  });
});

describe('bounds', () => {
  it('reported duplicates are bounded in names, and complete in number', () => {
    const state = begin(paramsOf(), 1, 0);
    for (let at = 0; at <= MAX_REPORTED; at += 1) reportDuplicate(state, runOfFirst(`r${at}`), true);
    expect([state.reported.size, state.ledger.duplicates]).toEqual([MAX_REPORTED, MAX_REPORTED + 1]);
    expect([state.reported.has('r0'), state.reported.has('r1')]).toEqual([false, true]);
    expect(state.cancels.size).toBe(0);
  });

  it('duplicates that wait to be cancelled are bounded: the close cancels the others', () => {
    const state = begin(paramsOf(), 1, 0);
    for (let at = 0; at <= MAX_CANCELS; at += 1) reportDuplicate(state, runOfFirst(`r${at}`), false);
    expect(state.cancels.size).toBe(MAX_CANCELS);
    expect(state.ledger.duplicates).toBe(MAX_CANCELS + 1);
  });

  it('evidence is bounded, and says so when some of it is lost', () => {
    const state = begin(paramsOf(), 1, 0);
    for (let at = 0; at < MAX_EVIDENCE; at += 1) keepEvidence(state, runOfFirst(`r${at}`));
    keepEvidence(state, runOfFirst('r0'));
    expect([state.evidence.size, state.isEvidenceLost]).toEqual([MAX_EVIDENCE, false]);
    keepEvidence(state, runOfFirst('one more'));
    expect([state.evidence.size, state.isEvidenceLost]).toEqual([MAX_EVIDENCE, true]);
  });
});
