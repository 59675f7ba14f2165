// The cost report of a finished batch: the sums that are certain, and the runs whose cost is unknown.

import { describe, expect, it } from 'vitest';
import { NO_LEDGER, type RequestLedger } from '../../src/batch/accounting/request-ledger.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { begin } from '../../src/batch/state/state.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import {
  notSucceeded,
  readLatestSummary,
  RowFacts,
  summaryOf,
  writeSummary,
  type LastReading,
  type Summary,
} from '../../src/results/summary.ts';
import { folderStore } from '../../src/store/folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { summaryOfPass } from './summary-of-pass.ts';
import { tallyChange } from '../../src/results/tally-rows.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { paramsOf } from '../batch/params.ts';

const FILE = {
  batch: 'b',
  sheet: { rows: 3, inputs: [], options: {} },
  deployment: { id: 'd' },
  service: { rehearsal: false },
} as unknown as BatchFile;
const NO_DUPLICATES = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };

const TALLY = tallyChange([
  {
    outcome: 'succeeded',
    attempts: [
      { attempt: 1, outcome: 'failed', gpu_used: 'L4', run_seconds: 2, cost_usd: 0.2 },
      {
        attempt: 2,
        outcome: 'succeeded',
        gpu_used: 'H100',
        cold_start_seconds: 1,
        run_seconds: 3,
        cost_usd: 4,
      },
    ],
  },
  { outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }] },
  { outcome: 'cancelled', attempts: [] },
]);

function summary(
  ledger: Partial<RequestLedger>,
  lists: LastReading['lists'],
  { duplicates = NO_DUPLICATES, isEvidenceLost = false, tally = TALLY, facts = new RowFacts() } = {},
): Summary {
  const now = progress(begin(paramsOf({ rows: 3 }), WRITES, 1_000));
  return summaryOf(
    FILE,
    { ...now, tally, ledger: { ...NO_LEDGER, ...ledger } },
    {
      startedAt: 1_000,
      endedAt: 61_500,
      reading: { lists, duplicates },
      isEvidenceLost,
      throughPass: 1,
      idle: [],
    },
    facts,
  );
}

const LEDGER = {
  sent: 20,
  accepted: 4,
  rejected: 1,
  throttled: 2,
  blocked: 3,
  unconfirmed: 10,
  adopted: { webhook: 1, list: 1 },
  absent: 2,
  unknown: 1,
  resubmitted: 2,
  failed: 3,
};

describe('the runs that a batch may not have seen', () => {
  it('are none if the lists were read to their end', () => {
    expect(summary(LEDGER, 'complete').unseen_runs_at_most).toBe(0);
  });

  it.each(['incomplete', 'none'] as const)(
    'are what was abandoned, and what was turned away on the service’s word alone, if the lists were %s',
    (lists) => {
      expect(summary(LEDGER, lists).unseen_runs_at_most).toBe(1 + 2 + 3 + 2 + 3);
    },
  );

  it('are none without a list if every request was answered with a run or a refusal of its row', () => {
    expect(summary({ sent: 5, accepted: 4, rejected: 1 }, 'none').unseen_runs_at_most).toBe(0);
  });
});

describe('summary.json', () => {
  it('counts rows that were executed again, and what was executed in vain', () => {
    const facts = new RowFacts();
    const ROW = { row: 1, key: 'a' };
    const attempt = { attempt: 1, outcome: 'succeeded' } as const;
    facts.add({ ...ROW, outcome: 'succeeded', attempts: [attempt] });
    expect(facts.all).not.toHaveProperty('executed_again');
    const lost = { ...attempt, lost_executions: 2, lost_seconds: 1.5 };
    facts.add({ ...ROW, outcome: 'succeeded', attempts: [{ ...lost, lost_executions: 1 }, lost] });
    facts.add({ ...ROW, outcome: 'failed', attempts: [lost] });
    expect(facts.all).toMatchObject({ executed_again: { rows: 2, executions: 5, seconds: 4.5 } });
  });

  it('is not replaced by that of an earlier end', async () => {
    const store = folderStore(freshFolder());
    for (const pass of [2, 1]) await writeSummary(store, JSON.parse(summaryOfPass(pass)) as Summary);
    expect((await readLatestSummary(store))?.pass).toBe(2);
  });

  it('adds every attempt of every row to the GPU that it used', () => {
    expect(summary(LEDGER, 'complete')).toMatchObject({
      rows: 3,
      outcomes: { succeeded: 1, refused: 1, cancelled: 1, failed: 0 },
      cost_usd: 4.2,
      gpus: { L4: { runs: 1, seconds: 2, cost_usd: 0.2 }, H100: { runs: 1, seconds: 4, cost_usd: 4 } },
    });
  });

  it('has the facts of the closing line: the runs of rows, duplicates, and the cost of both', () => {
    const duplicates = { runs: 2, gpu_seconds: 8, cost_usd: 16.000_000_4, first: [] };
    expect(summary(LEDGER, 'complete', { duplicates })).toMatchObject({
      runs: 4 + 1 + 1,
      bought_twice: 2,
      cost_usd: 4.2,
      total_cost_usd: 20.2,
    });
  });

  it('has no cost where the cost of every run is unknown, instead of 0', () => {
    const attempt = { attempt: 1, outcome: 'succeeded', gpu_used: 'fal', run_seconds: 2 } as const;
    const costOf = (attempts: PartRecord['attempts']) => {
      const facts = new RowFacts();
      facts.add({ row: 1, key: 'a', outcome: 'succeeded', attempts });
      const tally = tallyChange([{ outcome: 'succeeded', attempts }]);
      const { cost_usd, total_cost_usd, gpus } = summary(LEDGER, 'complete', { tally, facts });
      return [cost_usd, total_cost_usd, gpus['fal']?.cost_usd];
    };
    const unknown = { ...attempt, cost_incomplete: true } as const;
    expect(costOf([unknown])).toEqual([null, null, null]);
    expect(costOf([unknown, { ...attempt, cost_usd: 0.5 }])).toEqual([0.5, 0.5, 0.5]);
    expect(costOf([{ ...attempt, cost_usd: 0 }])).toEqual([0, 0, 0]);
  });

  it('takes its times from the batch, and names the deployment by its id if it has no name', () => {
    expect(summary(LEDGER, 'complete')).toMatchObject({
      deployment: 'd',
      started_at: '1970-01-01T00:00:01.000Z',
      ended_at: '1970-01-01T00:01:01.500Z',
      seconds: 60.5,
    });
  });

  it('has the requests, the duplicates and the lost evidence as they were', () => {
    const duplicates = { runs: 2, gpu_seconds: 8, cost_usd: 16, first: [] };
    const told = summary(LEDGER, 'incomplete', { duplicates, isEvidenceLost: true });
    expect(told).toMatchObject({ requests: LEDGER, lists: 'incomplete', duplicates, is_evidence_lost: true });
    expect(notSucceeded(told)).toBe(2);
  });
});
