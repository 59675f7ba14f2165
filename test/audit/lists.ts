// Run lists of a service as they may be: pages of its own size, lists that move while they are read, strangers' runs, and
// webhooks of no batch.

import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { webhookUrl, type Token } from '../../src/webhook/webhook-token.ts';
import { TIMING } from '../batch/params.ts';

export const MARK = '0123456789abcdef';
export const STARTED = Date.parse('2026-11-21T10:00:00Z');
/** Long after the last run that anybody could have bought. */
export const NOW = STARTED + 3_600_000;

export const FILE = {
  batch: 'b',
  mark: MARK,
  createdAt: new Date(STARTED).toISOString(),
  sheet: { rows: 6, pages: 1, lanes: [{ places: 6 }], isQueued: false, inputs: [], options: {} },
  deployment: { id: 'd', workflowId: 'w' },
  service: { timing: TIMING, prices: { L4: 2 } },
  concurrency: 4,
  retries: 1,
  seed: 7,
  unconfirmed: { rule: 'unknown', afterMs: 0 },
  webhooks: false,
  deadlines: {},
} as unknown as BatchFile;

/** Everything that was sent since the batch was started, by a service whose clock is right. */
export const BACK = { agoMs: NOW - STARTED, wallAt: NOW, offset: { min: 0, max: 0 } };

export type Bought = Partial<Token> & {
  readonly place: number;
  readonly id?: string;
  readonly status?: string;
  readonly at?: number;
  readonly endedAt?: number;
  readonly webhook?: string;
};

let strangers = 0;

/** A run of the batch, unless its token says otherwise; ids are hexadecimal. */
export function runOf({ place, attempt = 1, batch = 'b', mark = MARK, ...more }: Bought): Run {
  const { id = idOf(place, attempt), status = 'success', at = STARTED + 60_000 } = more;
  return runSchema.parse({
    id,
    status,
    gpu: 'L4',
    run_duration: 3,
    cold_start_duration: 1,
    created_at: new Date(at).toISOString(),
    ...(more.endedAt !== undefined && { ended_at: new Date(more.endedAt).toISOString() }),
    webhook: more.webhook ?? webhookUrl({ batch, mark, place, attempt }, 's', undefined),
  });
}

export const idOf = (row: number, attempt = 1): string =>
  `00000000-0000-4000-8000-${String(attempt).padStart(4, '0')}${String(row).padStart(8, '0')}`;

/** Runs of other batches, or of no batch. */
export const strangersRuns = (count: number, more: Partial<Bought> = {}): readonly Run[] =>
  Array.from({ length: count }, () =>
    runOf({ place: 1, id: `f${String(++strangers).padStart(8, '0')}`, mark: 'fedcba9876543210', ...more }),
  );

type Page = { readonly limit: number; readonly offset: number };
export type ListService = {
  readonly listRuns: (workflowId: string, page: Page) => Promise<readonly Run[] | undefined>;
  readonly nowMs: () => number | undefined;
  /** The pages that were requested. */
  readonly asked: Page[];
};

/** Gives `most` runs a page, whatever is asked; `before` may change the list before each page. */
export function listing(
  runs: Run[],
  { most = 200, before = () => undefined, ...clock }: ListingOptions = {},
): ListService {
  const requests: Page[] = [];
  return {
    asked: requests,
    nowMs: () => ('nowMs' in clock ? clock.nowMs : NOW),
    listRuns: async (_, page) => {
      before(page, runs);
      requests.push(page);
      return runs.slice(page.offset, page.offset + Math.min(page.limit, most));
    },
  };
}

export type ListingOptions = {
  readonly most?: number;
  readonly before?: (page: Page, runs: Run[]) => void;
  /** undefined: the service does not tell its time. */
  readonly nowMs?: number | undefined;
};
