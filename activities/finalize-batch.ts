// Ends a batch: compares the parts with the workflow's counts, reads the run lists once more, and writes the results and the
// report.

import { Context } from '@temporalio/activity';
import { KnownRuns } from '../src/audit/known-runs.ts';
import { readLast, type ListedRuns } from '../src/audit/duplicate-runs.ts';
import { NO_TALLY, tallyOutcome, type Tally } from '../src/batch/accounting/tally.ts';
import type { ReadBack } from '../src/batch/commands.ts';
import type { BatchEvent } from '../src/batch/events.ts';
import { OUTCOMES, type AttemptRun } from '../src/batch/outcome.ts';
import type { Snapshot } from '../src/batch/state/snapshot.ts';
import { FIRST_PASS, writeSnapshot } from '../src/store/passes.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import { writeEvents } from '../src/results/all-events.ts';
import { writeResults } from '../src/results/results.ts';
import { countRows, nameOf } from '../src/results/batch-rows.ts';
import { newestRecords } from '../src/results/newest-parts.ts';
import { openDuplicates, readDuplicates } from '../src/results/duplicates-file.ts';
import type { EndedBatch } from '../src/results/summary.ts';
import { confirmHeld, confirmingHeld } from './owner-check.ts';
import { confirmOurs, StoreConflict, withStore } from './activity-failures.ts';
import type { Deps, OpenBatch } from './deps.ts';
import { wakePipeline } from './pipeline-stages.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { EVIDENCE } from '../src/store/batch-file.ts';
import { atRisk } from '../src/batch/accounting/request-ledger.ts';
import { isRebuilt } from '../src/store/started.ts';
import { linesOf } from '../src/store/pieces.ts';
import type { Store } from '../src/store/store.ts';

/** `throughPass`: the newest pass whose rows are in the results. */
export type FinalizeInput = BatchRef &
  Omit<EndedBatch, 'reading'> & {
    readonly progress: Progress;
    /** Runs that no row in the workflow's state explained; the store has further ones. */
    readonly evidence: readonly AttemptRun[];
    readonly back: ReadBack;
    readonly log: readonly BatchEvent[];
    readonly logNumber: number;
    /** The state from which a later pass continues. */
    readonly closed: Snapshot;
  };

/** A page is retried for some minutes; then the reading is reported as incomplete. */
const PAGE_TRIES = 12;

/** Idempotent: a retry writes the same files. */
export async function finalizeBatch(deps: Deps, input: FinalizeInput): Promise<void> {
  await withStore(async () => {
    const open = await deps.open(input);
    const confirm = async (): Promise<void> => {
      await confirmOurs(deps);
      await confirmHeld(deps, input);
    };
    const knownRuns = await compare(open, input).catch(async (error: unknown) => {
      // If another execution has written parts, that is the fault, and not the folder.
      await confirmHeld(deps, input);
      throw error;
    });
    await confirmHeld(deps, input);
    const { file, store } = open;
    await writeEvents(store, input.logNumber, input.log);
    const { progress, startedAt, endedAt, isEvidenceLost, throughPass, closed } = input;
    await writeSnapshot(store, throughPass, closed, confirm);
    const over = new AbortController();
    const reading = readAgain(deps, open, input, { known: knownRuns, over: over.signal, confirm });
    // The reading may fail before the results need it.
    const settled = reading.catch(() => undefined);
    const ended = { startedAt, endedAt, reading, isEvidenceLost, throughPass };
    try {
      await writeResults({ file, store, progress, ...ended, confirm });
    } finally {
      over.abort();
      await settled;
    }
    // The workflow of the pipeline awaits the first end itself.
    if (throughPass > FIRST_PASS) await wakePipeline(deps, input, file);
  });
}

/** R27: counts the rows in the parts; throws {@link StoreConflict} if the counts differ from the workflow's. */
async function compare({ store, file }: OpenBatch, { progress, throughPass }: FinalizeInput) {
  const knownRuns = new KnownRuns();
  let counted: Tally = NO_TALLY;
  let neverSent = await countRows(store, file, throughPass);
  for await (const { outcome, attempts } of newestRecords(store, neverSent)) {
    counted = tallyOutcome(counted, outcome);
    neverSent -= 1;
    for (const { run_id, ended_at } of attempts) if (run_id !== undefined) knownRuns.add(run_id, ended_at);
  }
  counted = tallyOutcome(counted, 'cancelled', neverSent);
  const expected = progress.tally.outcomes;
  const wrong = OUTCOMES.filter((outcome) => counted.outcomes[outcome] !== expected[outcome]);
  if (wrong.length === 0) return knownRuns;
  const differences = wrong.map(
    (outcome) => `${counted.outcomes[outcome]} ${outcome} rows in the parts, ${expected[outcome]} counted`,
  );
  throw new StoreConflict(
    `the parts in the folder do not match the batch's counts: ${differences.join('; ')}`,
  );
}

async function readAgain(
  deps: Deps,
  { store, file, service }: OpenBatch,
  { evidence, back, progress, ...ref }: FinalizeInput,
  {
    known: knownRuns,
    over,
    confirm,
  }: {
    readonly known: KnownRuns;
    readonly over: AbortSignal;
    readonly confirm: () => Promise<void>;
  },
): Promise<ListedRuns> {
  const duplicates = await openDuplicates(store);
  try {
    const reading = await readLast({
      file,
      service,
      known: knownRuns,
      isAccounted: atRisk(progress.ledger) === 0 && !(await isRebuilt(store)),
      back,
      evidence: keptEvidence(store, evidence),
      earlier: readDuplicates(store),
      beforeCancel: confirmingHeld(deps, ref),
      tries: PAGE_TRIES,
      signal: AbortSignal.any([Context.current().cancellationSignal, over]),
      nameOf: (attempt) => nameOf(store, file, attempt),
      onDuplicate: duplicates.add,
    });
    await confirm();
    await duplicates.commit();
    if (reading.lists === 'incomplete')
      deps.log.warn(
        { batch: ref.batch, reason: reading.reason },
        'the run lists could not be read at the end',
      );
    return reading;
  } finally {
    await duplicates.discard();
  }
}

/** The runs that matched no row in the workflow's state, from the workflow and from its files. */
export async function* keptEvidence(
  store: Store,
  evidence: readonly AttemptRun[],
): AsyncGenerator<AttemptRun> {
  yield* evidence;
  for (const name of await store.list(EVIDENCE))
    for await (const line of linesOf(store, `${EVIDENCE}/${name}`)) yield JSON.parse(line) as AttemptRun;
}
