// Compares summary.json with the batch's parts and files, and with the service's run list.

import { readLast } from '../audit/duplicate-runs.ts';
import { KnownRuns } from '../audit/known-runs.ts';
import { readBackToStart } from '../audit/read-back.ts';
import { findings, recount, reportedDuplicates, type Finding, type ListsNow } from '../audit/verify.ts';
import { isRunsheetError } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { nameOf } from '../results/batch-rows.ts';
import type { Summary } from '../results/summary.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import type { FoundBatch } from './found-batch.ts';

export type Verification = {
  /** Whether every finding holds. */
  readonly holds: boolean;
  readonly findings: readonly Finding[];
  /** Whether the run list of the service was compared too. */
  readonly listed: boolean;
};

/** `files`: also reads every file and compares its checksum. */
export async function verification(
  config: Config,
  found: FoundBatch,
  summary: Summary,
  files: boolean,
): Promise<Verification> {
  using known = new KnownRuns();
  const counted = await recount(found.store, found.file, { files, known });
  const lists = await readLists(config, found, known);
  const all = findings(summary, counted, lists);
  return { holds: all.every(({ holds }) => holds), findings: all, listed: lists !== undefined };
}

/** The maximum number of unreported duplicate runs that are named. */
const HIDDEN_MOST = 1_000;
const PAGE_TRIES = 3;

/** undefined if the batch's service cannot be reached with the settings here. */
async function readLists(
  config: Config,
  { file, store }: FoundBatch,
  known: KnownRuns,
): Promise<ListsNow | undefined> {
  using reported = new KnownRuns();
  await reportedDuplicates(store, reported);
  const hidden: string[] = [];
  try {
    const reading = await readLast({
      nameOf: (attempt) => nameOf(store, file, attempt),
      file,
      service: openServices(config, openTransport(4)).at(file.service),
      known,
      back: await readBackToStart(store, Date.now()),
      evidence: NO_EVIDENCE,
      cancels: false,
      tries: PAGE_TRIES,
      onDuplicate: async ({ run_id }) => {
        if (!reported.has(run_id) && hidden.length < HIDDEN_MOST) hidden.push(run_id);
      },
    });
    return { reading, hidden };
  } catch (error) {
    if (isRunsheetError(error)) return undefined;
    throw error;
  }
}

const NO_EVIDENCE: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};
