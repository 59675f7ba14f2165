// Figures of batches for tests.

import type { Tally } from '../../src/batch/accounting/tally.ts';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';
import type { PauseKind } from '../../src/batch/pausing/pause-kinds.ts';
import { NOTHING_OPEN, type BatchFigures } from '../../src/monitoring/batch-figures.ts';

export const MARK = '0123456789abcdef';

export const figures = ({
  outcomes,
  gpus = {},
  paused,
  duplicates = 0,
  ...facts
}: FigureFacts = {}): BatchFigures => ({
  ...NOTHING_OPEN,
  state: 'running',
  rows: 100,
  done: 0,
  concurrency: 10,
  costUsd: 0,
  ...facts,
  pauses: paused === undefined ? [] : [{ kind: paused, reason: 'it is', since: 0 }],
  ledger: { ...NO_LEDGER, duplicates },
  tally: { outcomes: { ...NO_OUTCOMES, ...outcomes }, gpus },
});

type FigureFacts = Partial<Omit<BatchFigures, 'pauses' | 'ledger' | 'tally'>> & {
  readonly paused?: PauseKind;
  readonly duplicates?: number;
  readonly outcomes?: Partial<Tally['outcomes']>;
  readonly gpus?: Tally['gpus'];
};
