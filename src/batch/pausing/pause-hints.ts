// The hint that a paused batch prints: the steps of the user, and the command that continues the batch.

import { upToCent } from '../../options/bounds-and-defaults.ts';
import { usdOf } from '../../options/text/printed-numbers.ts';
import type { PauseKind } from './pause-kinds.ts';

/** The steps that a user takes, and the event with which the batch continues on its own, as long as servers run it. */
type Way = { readonly first?: string; readonly until?: string };

/** `resume`: the command that resumes the batch. */
type HintText = (batch: string, resume: string, neededNano?: number) => string;

const KEY = 'workers read RUNSHEET_API_KEY_FILE again, and RUNSHEET_API_KEY only when they start';

const toContinue: HintText = (_, resume) => `to continue: ${resume}`;

const HINTS: Readonly<Record<PauseKind, Way | HintText>> = {
  blocked: { first: `fix the cause (${KEY})` },
  unreachable: { until: 'the service answers' },
  unclear: { first: 'see what answers at the address of the service', until: 'it accepts a run' },
  unreadable: { first: `fix the cause (${KEY})`, until: 'runs can be read' },
  files: { until: 'the files can be fetched' },
  elsewhere: { until: 'that command gives up' },
  pool: { first: 'give the pool slots', until: 'it grants some' },
  store: { first: 'make room, or repair the folder or bucket', until: 'it can be written' },
  unconfirmed: (_, resume) =>
    `decide about them: ${resume} --unconfirmed unknown (or fail, or resubmit, which may pay for a row twice)`,
  user: toContinue,
  deadline: toContinue,
  failures: (batch, resume) => `show the rows: runsheet rows ${batch}; to continue: ${resume}`,
  budget: (_, resume, neededNano) =>
    neededNano === undefined
      ? `to continue without a limit: ${resume} --max-cost none`
      : `to continue with a limit that all rows fit into: ${resume} --max-cost ${usdOf(upToCent(neededNano))}`,
  canary: (batch, resume) =>
    `show the rows: runsheet rows ${batch}; one that retry sends again with --set is tried alone; to send the others: ${resume}; to stop: runsheet cancel ${batch}`,
  alike: (batch, resume) =>
    `correct the cause; then, to go on and to try failed rows again: ${resume}; to stop: runsheet cancel ${batch}`,
  absent: (batch, resume) => `to send the rows again: ${resume}; to stop: runsheet cancel ${batch}`,
};

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
  // A newer worker may name a kind that this command does not know.
  const hint = (HINTS as Partial<typeof HINTS>)[kind] ?? HINTS.unreachable;
  if (typeof hint === 'function') return hint(batch, resume, neededNano);
  const { first, until } = FOLDER_ERROR.test(reason) ? OTHER_FOLDER : hint;
  if (until === undefined || (serversEnd && first !== undefined)) return `${first}, then: ${resume}`;
  if (serversEnd) return `the servers end with this command; when ${until}: ${resume}`;
  const automatically = `it continues automatically when ${until}; to retry immediately: ${resume}`;
  return first === undefined ? automatically : `${first}; ${automatically}`;
}
