// summary.json with no more than every version of it has.

import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';

const DUPLICATES = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };

export const summaryOfPass = (pass: number): string =>
  JSON.stringify({ pass, outcomes: {}, requests: NO_LEDGER, duplicates: DUPLICATES, cost_usd: 0 });
