import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costOf, isGpu } from '../../src/batch/gpu.ts';
import { batchOf, partName, workQueueOf, workflowIdOf } from '../../src/batch/ids.ts';
import { NO_LEDGER, enterAdopted, enterPost, enterResolved, stillUncertain } from '../../src/batch/ledger.ts';
import { OUTCOMES } from '../../src/batch/outcome.ts';
import { freeSlots, usedSlots } from '../../src/batch/slots.ts';
import {
  NO_TALLY,
  addTallies,
  costSoFar,
  rowsDone,
  tallyOutcome,
  tallyUse,
  type Tally,
} from '../../src/batch/tally.ts';
import { orderOf } from './world.ts';

const count = fc.nat(1_000);

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
  it('adds up in any order and any grouping', () => {
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

  it('counts an outcome and what a GPU took', () => {
    const use = { runs: 1, seconds: 4, costUsd: 0.5 };
    const counted = tallyUse(tallyUse(tallyOutcome(NO_TALLY, 'failed', 3), 'L4', use), 'L4', use);
    expect(counted.outcomes.failed).toBe(3);
    expect(counted.gpus['L4']).toEqual({ runs: 2, seconds: 8, costUsd: 1 });
  });
});

describe('ledger', () => {
  it('adds up whatever becomes of POSTs', () => {
    const became = fc.constantFrom(
      'accepted' as const,
      'refused' as const,
      'not-sent' as const,
      'not-processed' as const,
      'pause' as const,
      'uncertain' as const,
    );
    fc.assert(
      fc.property(fc.array(became), (posts) => {
        const ledger = posts.reduce(enterPost, NO_LEDGER);
        expect(ledger.sent).toBe(posts.filter((one) => one !== 'not-sent').length);
        expect(ledger.sent).toBe(
          ledger.accepted + ledger.refused + ledger.notProcessed + ledger.paused + ledger.uncertain,
        );
        expect(stillUncertain(ledger)).toBe(ledger.uncertain);
      }),
    );
  });

  it('resolves an uncertain attempt once, one way or the other', () => {
    let ledger = ['uncertain', 'uncertain', 'uncertain', 'uncertain'].reduce(
      (sum) => enterPost(sum, 'uncertain'),
      NO_LEDGER,
    );
    ledger = enterAdopted(enterAdopted(ledger, 'webhook'), 'list');
    expect(stillUncertain(ledger)).toBe(2);
    ledger = enterResolved(enterResolved(ledger, 'absent'), 'unknown');
    expect(stillUncertain(ledger)).toBe(0);
  });
});

describe('slots', () => {
  it('are held by whatever may be a run, and never fewer than none are free', () => {
    const phases = { waiting: 5, sending: 1, running: 2, uncertain: 1, ended: 9 };
    expect(usedSlots({ phases })).toBe(4);
    expect(freeSlots({ phases, order: orderOf({ cap: 6 }) })).toBe(2);
    expect(freeSlots({ phases, order: orderOf({ cap: 3 }) })).toBe(0);
  });
});

describe('cost', () => {
  it('is cold start and run seconds at the price of the GPU used', () => {
    expect(costOf({ L4: 0.5 }, 'L4', { coldStart: 2, run: 4 })).toBe(3);
    expect(costOf({}, 'T4', { run: 1 })).toBe(0.00018);
    expect(costOf({}, 'Z9', { run: 1 })).toBe(0);
    expect(costOf({}, undefined, {})).toBe(0);
  });

  it('knows the GPUs of the specification', () => {
    expect(isGpu('A100-80GB')).toBe(true);
    expect(isGpu('a100')).toBe(false);
  });
});

describe('names', () => {
  it('lead from a batch to its workflow and back', () => {
    expect(batchOf(workflowIdOf('prompts-1'))).toBe('prompts-1');
    expect(batchOf('other')).toBeUndefined();
    expect(workQueueOf('q')).toBe('q-work');
    expect(partName(12)).toBe('parts/000012.jsonl');
  });
});
