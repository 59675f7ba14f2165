// What must hold when a simulated batch is done, compared with what its service really did. Named as in reliability work:
// one end (I1), bounded spend (I2), no false success (I3), no orphan (I4), an account that adds up (I16).

import { stillUncertain } from '../../src/batch/ledger.ts';
import { rowsDone } from '../../src/batch/tally.ts';
import type { PastAttempt } from '../../src/batch/outcome.ts';
import type { SimBatch } from './batch.ts';
import type { SimRun } from './service.ts';
import type { World } from './world.ts';

export type Verdict = { lost: number; duplicates: number; unreported: number; falseSuccesses: number };

export function judge(world: World, batch: SimBatch): Verdict {
  const verdict = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0 };
  const runsOf = new Map<number, SimRun[]>();
  for (const run of batch.service.runs) runsOf.set(run.row, [...(runsOf.get(run.row) ?? []), run]);
  for (let row = 1; row <= world.plan.rows; row += 1) {
    const attempts = batch.collected.get(row)?.attempts;
    const runs = runsOf.get(row) ?? [];
    if (attempts === undefined) judgeMissing(world, batch, row, runs, verdict);
    else judgeRow(world, { row, attempts, runs }, verdict);
  }
  judgeAccount(world, batch);
  return verdict;
}

/** I1: only a cancelled batch has rows without a part, and they never ran. */
function judgeMissing(
  world: World,
  batch: SimBatch,
  row: number,
  runs: readonly SimRun[],
  verdict: Verdict,
): void {
  const neverSent = batch.state.cancelling !== undefined && row >= batch.state.cursor;
  if (!neverSent) verdict.lost += 1;
  world.claim(neverSent && runs.length === 0, () => `row ${row} has no outcome, and ${runs.length} runs`);
}

type Row = {
  readonly row: number;
  readonly attempts: readonly PastAttempt[];
  readonly runs: readonly SimRun[];
};

function judgeRow(world: World, { row, attempts, runs }: Row, verdict: Verdict): void {
  for (const run of runs) {
    const record = attempts.find(({ attempt }) => attempt === run.attempt);
    const isReported = record?.runId === run.id || record?.outcome === 'unknown';
    if (!isReported) verdict.unreported += 1;
    world.claim(
      isReported,
      () => `${run.id} of row ${row}.${run.attempt} is ${record?.outcome ?? 'in no record'}`,
    );
  }
  for (const [index, run] of runs.entries()) {
    const earlier = runs[index - 1];
    if (earlier === undefined) continue;
    const wasRetried =
      earlier.attempt < run.attempt && earlier.endsAt <= run.createdAt && earlier.outcome !== 'succeeded';
    if (!wasRetried) verdict.duplicates += 1;
    world.claim(wasRetried, () => `row ${row} was bought twice: ${earlier.id} and ${run.id}`);
  }
  judgeSuccess(world, row, attempts, runs, verdict);
  const retries = attempts.filter(({ outcome }) => outcome === 'failed' || outcome === 'timed-out').length;
  world.claim(retries <= world.plan.retries + 1, () => `row ${row} ran ${retries} times in vain`);
}

function judgeSuccess(
  world: World,
  row: number,
  attempts: readonly PastAttempt[],
  runs: readonly SimRun[],
  verdict: Verdict,
): void {
  const last = attempts.at(-1);
  world.saw(`outcome ${last?.outcome}`);
  if (attempts.some(({ outcome }) => outcome === 'absent')) world.saw('proved absent');
  if (attempts.length > 1) world.saw('another attempt');
  if (last?.outcome !== 'succeeded') return;
  const run = runs.find(({ id }) => id === last.runId);
  const isTrue = run?.outcome === 'succeeded' && run.attempt === last.attempt;
  if (!isTrue) verdict.falseSuccesses += 1;
  world.claim(
    isTrue,
    () => `row ${row} succeeded by ${last.runId}, which ${run?.outcome ?? 'is not its run'}`,
  );
}

/** I16: sums of rows, of POSTs, and of doubts. */
function judgeAccount(world: World, batch: SimBatch): void {
  const { ledger, tally, order } = batch.state;
  const { sent, accepted, refused, notProcessed, paused, uncertain, adopted, unknown } = ledger;
  world.claim(rowsDone(tally) === order.rows, () => `${rowsDone(tally)} of ${order.rows} rows are counted`);
  world.claim(
    sent === accepted + refused + notProcessed + paused + uncertain,
    () => `the ledger does not add up: ${JSON.stringify(ledger)}`,
  );
  world.claim(stillUncertain(ledger) === 0, () => `${stillUncertain(ledger)} attempts are still uncertain`);
  world.claim(
    sent >= batch.service.begun,
    () => `${batch.service.begun} POSTs began, ${sent} are in the ledger`,
  );
  const bought = batch.service.runs.length;
  const known = accepted + adopted.webhook + adopted.list;
  world.claim(known <= bought && bought <= known + unknown, () => `${bought} runs exist, ${known} are known`);
  world.claim(batch.closes === 1, () => `the batch was closed ${batch.closes} times`);
  for (const [how, count] of Object.entries(adopted)) if (count > 0) world.saw(`adopted by ${how}`);
}
