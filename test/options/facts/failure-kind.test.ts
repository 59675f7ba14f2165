import { describe, expect, it } from 'vitest';
import { FAILURE_KINDS, mostRetries, retriesFor } from '../../../src/options/facts/failure-kind.ts';
import { retryAt } from '../../../src/batch/run-retries.ts';
import { running } from '../../batch/scenes.ts';

describe('retries by the kind of failure', () => {
  it('are those of the batch, one for out of memory, and none for inputs that were refused', () => {
    const byKind = FAILURE_KINDS.map((kind) => [kind, retriesFor(kind, { retries: 3 })]);
    expect(Object.fromEntries(byKind)).toEqual({
      'out-of-memory': 1,
      timeout: 3,
      'cold-start': 3,
      'node-error': 3,
      validation: 0,
      infrastructure: 3,
      unknown: 3,
    });
    expect(retriesFor('out-of-memory', { retries: 0 })).toBe(0);
  });

  it('are those that the user gave, except for validation', () => {
    const retriesByKind = { 'out-of-memory': 4, timeout: 0, validation: 5 };
    expect(retriesFor('out-of-memory', { retries: 2, retriesByKind })).toBe(4);
    expect(retriesFor('timeout', { retries: 2, retriesByKind })).toBe(0);
    expect(retriesFor('validation', { retries: 2, retriesByKind })).toBe(0);
    expect(mostRetries({ retries: 2, retriesByKind })).toBe(5);
    expect(mostRetries({ retries: 2 })).toBe(2);
  });

  it('take a run that timed out as a time-out, whatever its log says', () => {
    const policy = { retries: 2, retriesByKind: { timeout: 0 }, seed: 1 };
    expect(
      retryAt({ outcome: 'timed-out', failure: 'node-error', tries: 1, place: 1 }, policy, 0),
    ).toBeUndefined();
    expect(
      retryAt({ outcome: 'failed', failure: 'node-error', tries: 1, place: 1 }, policy, 0),
    ).toBeDefined();
  });

  it('end a row after its first failed validation, and can be changed while the batch runs', () => {
    const world = running({ rows: 9, concurrency: 2, retries: 2 });
    const completion = { place: 1, attempt: 1, runId: 'run-0', outcome: 'failed' } as const;
    world.apply({
      type: 'runsCompleted',
      by: 'poll',
      completions: [{ ...completion, failure: 'validation' }],
    });
    expect(world.state.rows.get(1)?.phase).toBe('ended');
    world.apply({ type: 'scale', commandId: 's', limits: { retriesByKind: { 'node-error': 0 } } });
    expect(world.state.acknowledgements.at(-1)?.note).toBe('retry none → node-error=0');
    world.apply({
      type: 'runsCompleted',
      by: 'poll',
      completions: [{ ...completion, place: 2, runId: 'run-1', failure: 'node-error' }],
    });
    expect(world.state.rows.get(2)?.phase).toBe('ended');
  });
});
