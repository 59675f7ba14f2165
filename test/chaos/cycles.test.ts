import { describe, expect, it } from 'vitest';
import { chaosBatch, type Aim } from './long/batch.ts';
import { FAULTS } from './long/rig.ts';

const ROWS = 650;

/** Everyone who can be killed, and every point of an order's way. */
const CYCLES = [
  { victim: 'worker', point: 'taken' },
  { victim: 'everything', point: 'answered' },
  { victim: 'Temporal', point: 'arrived' },
  { victim: 'run service', point: 'taken' },
  { victim: 'servers', point: 'any moment' },
] as const satisfies readonly Aim[];

describe('a batch whose parts are killed one after the other, on a rough day', () => {
  it('brings every row to one success by one run that it names, and its ledger is what the service has', async () => {
    const { cycles, ...verdict } = await chaosBatch({
      rows: ROWS,
      cap: 40,
      seed: 7,
      faults: FAULTS,
      next: (kills) => CYCLES[kills],
      until: 'going on',
      say: (words) => console.error(words),
    });
    expect(verdict).toMatchObject({
      rows: ROWS,
      lost: 0,
      duplicates: 0,
      falseSuccesses: 0,
      ledgerFaults: [],
    });
    expect(cycles.map(({ victim, point }) => ({ victim, point }))).toEqual(CYCLES);
    for (const { outstanding, inFlight } of cycles)
      expect([outstanding >= 10, inFlight > 0]).toEqual([true, true]);
  });
});
