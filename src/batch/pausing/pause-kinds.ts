// Why a batch may be paused; pauses.ts defines what ends each kind.

import { MAX_COST_NANO_MAX } from '../../options/bounds.ts';

export const PAUSE_KINDS = [
  'blocked',
  'unreachable',
  'unreadable',
  'store',
  'elsewhere',
  'files',
  'unconfirmed',
  'pool',
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
] as const;
export type PauseKind = (typeof PAUSE_KINDS)[number];

/** Pauses that only a user ends. */
export const BY_RESUME_ONLY: ReadonlySet<PauseKind> = new Set([
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
] as const);

export type Pause = {
  readonly reason: string;
  /** The places of rows that the reason is about: the workflow knows places, and whatever shows the reason names their rows. */
  readonly places?: readonly number[];
  /** Only a pass could not be read (version 4); no write has failed. */
  readonly isRead?: true;
  /** Temporal's time, for display. */
  readonly sinceWallAt: number;
  readonly probeAt: number;
  readonly probes: number;
};

const KEY = 'workers read RUNSHEET_API_KEY_FILE again, and RUNSHEET_API_KEY only when they start';

/** What the user has to do, and when the batch continues without the user, as long as servers run it. */
type Way = { readonly first?: string; readonly until?: string };

const WAYS: Readonly<
  Record<Exclude<PauseKind, 'unconfirmed' | 'user' | 'failures' | 'deadline' | 'budget' | 'canary'>, Way>
> = {
  blocked: { first: `fix the cause (${KEY})` },
  unreachable: { until: 'the service answers' },
  unreadable: { first: `fix the cause (${KEY})`, until: 'runs can be read' },
  files: { until: 'the files can be fetched' },
  elsewhere: { until: 'that command gives up' },
  pool: { first: 'give the pool slots', until: 'it grants some' },
  store: { first: 'make room, or repair the folder or bucket', until: 'it can be written' },
};

/**
 * Tells the user how to continue a paused batch. `serversEnd`: the embedded servers end with the command, and nothing continues the batch then. `maxCostNano`: the limit in
 * force.
 */
export function pauseHint(
  batch: string,
  kind: PauseKind = 'unreachable',
  serversEnd = false,
  maxCostNano?: number,
): string {
  const resume = `runsheet resume ${batch}`;
  if (kind === 'user' || kind === 'deadline') return `to continue: ${resume}`;
  if (kind === 'budget')
    return `to continue with a higher limit: ${resume} --max-cost ${higher(maxCostNano)}`;
  if (kind === 'canary')
    return `show the rows: runsheet rows ${batch}; one that retry sends again with --set is tried alone; to send the others: ${resume}; to stop: runsheet cancel ${batch}`;
  if (kind === 'failures') return `show the rows: runsheet rows ${batch}; to continue: ${resume}`;
  if (kind === 'unconfirmed')
    return `decide about them: ${resume} --unconfirmed unknown (or fail, or resubmit, which may pay for a row twice)`;
  // A newer worker may name a kind that this command does not know.
  const { first, until } = (WAYS as Partial<typeof WAYS>)[kind] ?? WAYS.unreachable;
  if (until === undefined || (serversEnd && first !== undefined)) return `${first}, then: ${resume}`;
  if (serversEnd) return `the servers end with this command; when ${until}: ${resume}`;
  const automatically = `it continues automatically when ${until}; to retry immediately: ${resume}`;
  return first === undefined ? automatically : `${first}; ${automatically}`;
}

/** Twice the limit, in dollars. */
const higher = (nano: number | undefined): string =>
  nano === undefined ? '<usd>' : String(Math.min(MAX_COST_NANO_MAX, 2 * nano) / 1e9);
