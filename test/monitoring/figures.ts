// Figures of batches for tests.

import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';
import type { BatchFigures } from '../../src/monitoring/batch-gauges.ts';

export const MARK = '0123456789abcdef';

const NONE_OPEN = { unsent: 0, waiting: 0, sending: 0, running: 0, unconfirmed: 0, collecting: 0 };

export const figures = ({ open, outcomes, ...given }: PartialFigures = {}): BatchFigures => ({
  state: 'running',
  rows: 100,
  done: 0,
  slots: 10,
  byGpu: [],
  pauses: [],
  ledger: NO_LEDGER,
  duplicates: 0,
  costUsd: 0,
  gpus: {},
  budget: undefined,
  ...given,
  outcomes: { ...NO_OUTCOMES, ...outcomes },
  open: { ...NONE_OPEN, ...open },
});

type PartialFigures = Partial<Omit<BatchFigures, 'open' | 'outcomes'>> & {
  readonly open?: Partial<BatchFigures['open']>;
  readonly outcomes?: Partial<BatchFigures['outcomes']>;
};
