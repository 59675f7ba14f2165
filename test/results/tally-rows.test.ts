import { describe, expect, it } from 'vitest';
import { type PartRecord } from '../../src/results/row-record.ts';
import { runCostsIn } from '../../src/results/tally-rows.ts';

const record: PartRecord = {
  row: 3,
  place: 5_003,
  outcome: 'succeeded',
  attempts: [
    { attempt: 1, outcome: 'failed', run_id: 'a', cost_usd: 0.001, gpu_asked: 'T4' },
    { attempt: 2, outcome: 'cancelled', run_id: 'b', cost_usd: 0, gpu_asked: 'A10G' },
    { attempt: 3, outcome: 'succeeded', run_id: 'c', cost_usd: 0.5, gpu_asked: 'A10G' },
    { attempt: 4, outcome: 'succeeded', run_id: 'd', cost_usd: 0.7, cost_incomplete: true },
  ],
  files: [],
};

describe('the costs from which an estimate is made', () => {
  it('are those of runs that succeeded, with their rung: others say nothing about the next run', () => {
    expect(runCostsIn(record, ['T4', 'A10G'])).toEqual([[5_003, 5e8, 1]]);
    expect(runCostsIn(record, [])).toEqual([[5_003, 5e8]]);
  });

  it('are new: those of an earlier pass were learnt before', () => {
    expect(runCostsIn({ ...record, before: { outcome: 'failed', attempts: 3 } }, [])).toEqual([]);
  });
});
