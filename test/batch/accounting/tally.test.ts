import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NO_TALLY,
  addTallies,
  costSoFar,
  rowsDone,
  tallyClimbing,
  tallyOutcome,
  tallyUse,
  type Tally,
} from '../../../src/batch/accounting/tally.ts';
import { GPU_NAME_CHARS, MAX_GPU_NAMES } from '../../../src/batch/bounds.ts';
import { OUTCOMES } from '../../../src/batch/outcome.ts';

const count = fc.nat(1_000);
const USE = { runs: 1, seconds: 4, costUsd: 0.5 };

const tally: fc.Arbitrary<Tally> = fc
  .tuple(
    fc.array(count, { minLength: 6, maxLength: 6 }),
    fc.dictionary(
      fc.constantFrom('T4', 'A100', 'H100'),
      fc.record({ runs: count, seconds: count, costUsd: count }),
    ),
  )
  .map(([counts, gpus]) => ({
    outcomes: Object.fromEntries(
      OUTCOMES.map((outcome, at) => [outcome, counts[at] ?? 0]),
    ) as Tally['outcomes'],
    gpus: { ...gpus },
  }));

describe('tally', () => {
  it('a tally adds up in any order and any grouping', () => {
    fc.assert(
      fc.property(tally, tally, tally, (a, b, c) => {
        expect(addTallies(a, b)).toEqual(addTallies(b, a));
        expect(addTallies(addTallies(a, b), c)).toEqual(addTallies(a, addTallies(b, c)));
        expect(addTallies(a, NO_TALLY)).toEqual(a);
        expect(rowsDone(addTallies(a, b))).toBe(rowsDone(a) + rowsDone(b));
        expect(costSoFar(addTallies(a, b))).toBe(costSoFar(a) + costSoFar(b));
      }),
    );
  });

  it('a tally counts an outcome and what a GPU took', () => {
    const counted = tallyUse(tallyUse(tallyOutcome(NO_TALLY, 'failed', 3), 'L4', USE), 'L4', USE);
    expect(tallyOutcome(counted, 'failed').outcomes.failed).toBe(4);
    expect(counted.gpus['L4']).toEqual({ runs: 2, seconds: 8, costUsd: 1 });
  });

  it('a tally counts what climbing a ladder took, in each of its parts', () => {
    const climbed = tallyClimbing(tallyClimbing(NO_TALLY, USE), USE);
    expect(climbed.climbing).toEqual({ runs: 2, seconds: 8, costUsd: 1 });
    for (const sum of [addTallies(climbed, NO_TALLY), addTallies(NO_TALLY, climbed)])
      expect(sum.climbing).toEqual(climbed.climbing);
    expect(addTallies(climbed, climbed).climbing).toEqual({ runs: 4, seconds: 16, costUsd: 2 });
  });

  it('a tally counts the GPUs beyond a number of names together, and loses none of their runs', () => {
    const names = Array.from({ length: 3 * MAX_GPU_NAMES }, (_, at) => `gpu-${at}`);
    const counted = names.reduce((sum, name) => tallyUse(sum, name, USE), NO_TALLY);
    expect(Object.keys(counted.gpus)).toHaveLength(MAX_GPU_NAMES + 1);
    expect(counted.gpus['other']?.runs).toBe(2 * MAX_GPU_NAMES);
    expect(costSoFar(counted)).toBe(names.length * USE.costUsd);
  });

  it('a tally shortens the name of a GPU, and takes none for a property of every object', () => {
    const counted = tallyUse(tallyUse(NO_TALLY, 'x'.repeat(1_000), USE), '__proto__', USE);
    expect(Object.keys(counted.gpus)).toEqual(['x'.repeat(GPU_NAME_CHARS), 'other']);
    expect(tallyUse(NO_TALLY, 'constructor', USE).gpus).toEqual({ constructor: USE });
  });
});
