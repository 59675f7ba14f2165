import { describe, expect, it } from 'vitest';
import { heldByEnded } from '../../../src/batch/accounting/reserved-attempts.ts';

describe('what a row holds while its part is written', () => {
  const attempts = [
    { attempt: 1, outcome: 'failed', runId: 'a' },
    { attempt: 2, outcome: 'failed', runId: 'b', rung: 1 },
    { attempt: 3, outcome: 'cancelled' },
  ] as const;

  it('is each attempt that may have a run, wherever it ran', () => {
    expect(heldByEnded({ attempts }).inFlight).toBe(2);
  });

  it('is on its own rung of a ladder, and on the first one if it names none', () => {
    expect([0, 1, 2].map((rung) => heldByEnded({ attempts }, rung).inFlight)).toEqual([1, 1, 0]);
  });
});
