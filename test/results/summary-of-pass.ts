// The part of summary.json that decides what follows an end.

import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';

const DUPLICATES = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };

export const summaryOfPass = (pass: number, succeeded = 0): string =>
  JSON.stringify({
    pass,
    outcomes: { ...NO_OUTCOMES, succeeded },
    requests: NO_LEDGER,
    duplicates: DUPLICATES,
    cost_usd: 0,
    idle: [],
  });
