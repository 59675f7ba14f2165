// Compares summary.json with the batch's parts and files, and with the service's run list.

import { readLast } from '../../audit/duplicate-runs.ts';
import { KnownRuns } from '../../audit/known-runs.ts';
import { readBackToStart } from '../../audit/quiet-period.ts';
import { findings, recount, reportedDuplicates, type Finding, type ListsNow } from '../../audit/verify.ts';
import { errorMessage, isRunsheetError, problem } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { nameOf } from '../../results/batch-rows.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import type { Abortable } from '../abortable.ts';
import { atRisk } from '../../batch/accounting/request-ledger.ts';
import type { Summary } from '../../results/summary.ts';
import { isRebuilt } from '../../store/started.ts';
import type { FoundBatch } from './found-batch.ts';
import { summaryOfDone } from '../start/start-or-attach.ts';

/** Options of `verify()`. */
export type VerifyOptions = Abortable & {
  /** Read every file and compare its checksum (default: true). */
  readonly files?: boolean;
  /** Read the run list of the service (default: true). */
  readonly lists?: boolean;
};

/** The result of a verification. */
export type Verification = {
  /** Whether every finding holds. */
  readonly holds: boolean;
  /** The verified claims. */
  readonly findings: readonly Finding[];
  /** Whether the run list of the service was compared too; false without one. */
  readonly listed: boolean;
  /** Why the run list of the service could not be read to its end. */
  readonly unread?: string;
};

/** Throws E509 for a batch that has not ended, or that is retrying rows. */
export async function verifyBatch(
  config: Config,
  batchFolder: FoundBatch,
  { files = true, lists: wanted = true }: VerifyOptions,
): Promise<Verification> {
  const summary = await summaryOfDone(batchFolder);
  if (summary === undefined) throw problem('E509', { batch: batchFolder.batch });
  const knownRuns = new KnownRuns();
  const counted = await recount(batchFolder.store, batchFolder.file, { files, known: knownRuns });
  const { now, unread } = wanted ? await readLists(config, batchFolder, { summary, knownRuns }) : NOT_WANTED;
  const checks = findings(summary, counted, now);
  // Rows retried during the verification may appear in only one half of the data.
  if ((await summaryOfDone(batchFolder))?.ended_at !== summary.ended_at)
    throw problem('E509', { batch: batchFolder.batch });
  return {
    holds: checks.every((check) => check.holds),
    findings: checks,
    listed: now !== undefined,
    ...(unread !== undefined && { unread }),
  };
}

/** The maximum number of unreported duplicate runs that are named. */
const MAX_HIDDEN = 1_000;
const PAGE_TRIES = 3;

/** Without `now`, the service has no list, or `unread` says why it could not be read. */
type ListsRead = { readonly now?: ListsNow; readonly unread?: string };
const NOT_WANTED: ListsRead = {};

async function readLists(
  config: Config,
  { file, store }: FoundBatch,
  { summary, knownRuns }: { readonly summary: Summary; readonly knownRuns: KnownRuns },
): Promise<ListsRead> {
  const reported = new KnownRuns();
  await reportedDuplicates(store, reported);
  const hidden: string[] = [];
  try {
    const reading = await readLast({
      nameOf: (attempt) => nameOf(store, file, attempt),
      file,
      service: openServices(config, openTransport(4)).at(file.service),
      known: knownRuns,
      isAccounted: atRisk(summary.requests) === 0 && !(await isRebuilt(store)),
      back: await readBackToStart(store, Date.now()),
      evidence: NO_EVIDENCE,
      tries: PAGE_TRIES,
      onDuplicate: async ({ run_id }) => {
        if (!reported.has(run_id) && hidden.length < MAX_HIDDEN) hidden.push(run_id);
      },
    });
    if (reading.lists === 'none') return {};
    if (reading.lists === 'incomplete') return { unread: reading.reason ?? 'it was not read to its end' };
    return { now: { reading, hidden } };
  } catch (error) {
    // The batch's service may not be in these settings.
    if (isRunsheetError(error)) return { unread: errorMessage(error) };
    throw error;
  }
}

const NO_EVIDENCE: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};
