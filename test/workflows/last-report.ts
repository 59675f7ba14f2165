// Batches in a pool whose users append a row when they have ended.

import { WorkflowNotFoundError } from '@temporalio/client';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { openPools } from '../../src/temporal/pools.ts';
import { retryRows } from '../../workflows/signals.ts';
import { changedBundle } from './generations.ts';
import { refOf, type Rig, type Script } from './rig.ts';

export const POOL = 'gpus';

/** A pass with one new row. */
export const ONE_MORE = { segments: [{ lane: 0, first: 101, count: 1, isNew: true }], appended: 1 } as const;

export const makePool = (rig: Rig, size: number) => openPools(() => rig.client).set(POOL, { size });

/** A release whose last report to a pool waits until the batch has received a `retry`. */
export const withSlowLastReport = () =>
  changedBundle([
    [
      /async\(\)=>runtime\.signalPool\(pool,usage\)/,
      `async () => {
        if (usage.left) await runtime.condition(() => Reflect.has(globalThis, 'received'));
        return runtime.signalPool(pool, usage);
      }`,
    ],
    [
      /received\.signals\+=1;/,
      "received.signals += 1; if (event.type === 'retry') Reflect.set(globalThis, 'received', true);",
    ],
  ]);

/**
 * Runs a batch, and signals a pass `afterMs` after its results were written: whether Temporal took the signal, and whether the
 * batch has ended every row of the pass.
 */
export async function appendAfterEnd(
  rig: Rig,
  script: Script,
  batch: string,
  afterMs: number,
): Promise<{ readonly isTaken: boolean; readonly isDone: boolean }> {
  script.params.set(batch, { pool: POOL });
  script.passes.set(batch, ONE_MORE);
  const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
  script.finalize.set(batch, () => end(undefined));
  await rig.batches.start(refOf(batch));
  await ended;
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  const isTaken = await rig.client.workflow
    .getHandle(workflowIdOf(refOf(batch)))
    .signal(retryRows, { commandId: `retry of ${batch}`, pass: 2 })
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      },
    );
  const { pass, done } = await rig.result(batch);
  return { isTaken, isDone: pass === 2 && done === 3 };
}
