// Why a batch may be paused; pauses.ts defines what ends each kind.

import { MAX_COST_LIMIT_NANO } from '../../options/bounds.ts';

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
  'alike',
  'unclear',
  'absent',
] as const;
export type PauseKind = (typeof PAUSE_KINDS)[number];

/** Pauses that only a user ends. */
export const BY_RESUME_ONLY: ReadonlySet<PauseKind> = new Set([
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
  'alike',
  'absent',
] as const);

export type Pause = {
  readonly reason: string;
  /** The places of rows that the reason is about: the workflow knows places, and the displays translate them to rows. */
  readonly places?: readonly number[];
  /** Only a pass could not be read (version 4); no write has failed. */
  readonly isRead?: true;
  /** Temporal's time, for display. */
  readonly sinceWallAt: number;
  readonly probeAt: number;
  readonly probes: number;
};

const KEY = 'workers read RUNSHEET_API_KEY_FILE again, and RUNSHEET_API_KEY only when they start';

/** The steps that a user takes, and the event with which the batch continues on its own, as long as servers run it. */
type Way = { readonly first?: string; readonly until?: string };

const WAYS = {
  blocked: { first: `fix the cause (${KEY})` },
  unreachable: { until: 'the service answers' },
  unclear: { first: 'see what answers at the address of the service', until: 'it accepts a run' },
  unreadable: { first: `fix the cause (${KEY})`, until: 'runs can be read' },
  files: { until: 'the files can be fetched' },
  elsewhere: { until: 'that command gives up' },
  pool: { first: 'give the pool slots', until: 'it grants some' },
  store: { first: 'make room, or repair the folder or bucket', until: 'it can be written' },
} satisfies Partial<Record<PauseKind, Way>>;

/** Workers that cannot use the folder of the batch report one of these errors, whatever kind the pause has. */
const FOLDER_ERROR = /\((?:E411|E504)\)/;

const OTHER_FOLDER: Way = {
  first:
    'give all workers the RUNSHEET_OUT of this batch; to see which has another one: runsheet doctor --cluster',
  until: 'a worker can use its folder',
};

/** The facts of a pause that decide its hint. */
type HintedPause = { readonly kind: PauseKind; readonly reason?: string };

/**
 * Tells the user how to continue a paused batch. `serversEnd`: the embedded servers end with the command, so nothing
 * continues the batch afterwards. `neededNano`: the highest cost of all its rows.
 */
export function pauseHint(
  batch: string,
  { kind, reason = '' }: HintedPause = { kind: 'unreachable' },
  serversEnd = false,
  neededNano?: number,
): string {
  const resume = `runsheet resume ${batch}`;
  if (kind === 'user' || kind === 'deadline') return `to continue: ${resume}`;
  if (kind === 'budget' && neededNano === undefined)
    return `to continue without a limit: ${resume} --max-cost none`;
  if (kind === 'budget')
    return `to continue with a limit that all rows fit into: ${resume} --max-cost ${dollars(neededNano)}`;
  if (kind === 'alike')
    return `correct the cause; then, to go on and to try failed rows again: ${resume}; to stop: runsheet cancel ${batch}`;
  if (kind === 'absent') return `to send the rows again: ${resume}; to stop: runsheet cancel ${batch}`;
  if (kind === 'canary')
    return `show the rows: runsheet rows ${batch}; one that retry sends again with --set is tried alone; to send the others: ${resume}; to stop: runsheet cancel ${batch}`;
  if (kind === 'failures') return `show the rows: runsheet rows ${batch}; to continue: ${resume}`;
  if (kind === 'unconfirmed')
    return `decide about them: ${resume} --unconfirmed unknown (or fail, or resubmit, which may pay for a row twice)`;
  // A newer worker may name a kind that this command does not know.
  const ofKind: Way = (WAYS as Partial<Record<PauseKind, Way>>)[kind] ?? WAYS.unreachable;
  const { first, until } = FOLDER_ERROR.test(reason) ? OTHER_FOLDER : ofKind;
  if (until === undefined || (serversEnd && first !== undefined)) return `${first}, then: ${resume}`;
  if (serversEnd) return `the servers end with this command; when ${until}: ${resume}`;
  const automatically = `it continues automatically when ${until}; to retry immediately: ${resume}`;
  return first === undefined ? automatically : `${first}; ${automatically}`;
}

const CENT_NANO = 1e7;

/** In whole cents, rounded up. */
const dollars = (nano = 0): string =>
  String(Math.min(MAX_COST_LIMIT_NANO, Math.ceil(nano / CENT_NANO) * CENT_NANO) / 1e9);
