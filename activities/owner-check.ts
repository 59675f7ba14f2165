// Refuses activities of any execution except the one that owns the batch according to its folder (R36). Two Temporals
// may know the same batch after it was rebuilt from its folder. And every user of the machine can connect to an
// embedded server: such a user cannot read or create payloads, but can copy them, and reset or start workflows.

import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { codedMessage, errorMessage, problem } from '../src/errors/error.ts';
import { commandThere, holderText } from '../src/store/holder.ts';
import type { Standing } from '../src/store/standing.ts';
import { finalFailure } from './activity-failures.ts';
import type { Deps } from './deps.ts';

/**
 * Activities that no owner is checked for. `awaitBatch` only reads. `loadBatch` writes started.json and checks it
 * itself. `createBatch` buys nothing and makes one batch for each key; its payload is encrypted for one workflow, so
 * no other user can request another batch. `guardFirings` checks `createFiring` and `notifyFiring`. Activities of a
 * pipeline follow its folder, which a command has written.
 */
const BEFORE_START: ReadonlySet<string> = new Set([
  'awaitBatch',
  'awaitStage',
  'createBatch',
  'createFiring',
  'createStage',
  'loadBatch',
  'notifyFiring',
  'showPipeline',
]);

/**
 * Activities that change neither the folder nor a run, so they continue while the batch is rebuilt: it may be taken
 * back.
 */
const ONLY_READING: ReadonlySet<string> = new Set(['notify', 'pollRuns', 'reconcileRuns']);

/** Activities whose failure of type `StoreFailed` pauses the batch. */
const STORING: ReadonlySet<string> = new Set([
  'collectRows',
  'finalizeBatch',
  'keepEvidence',
  'keepLog',
  'loadPass',
]);

type ActivityWork = (deps: Deps, input: never) => unknown;

/** An activity that begins only for the execution that has the batch. */
export const onlyHolder =
  (name: string, work: ActivityWork): ActivityWork =>
  async (deps, input) => {
    if (!BEFORE_START.has(name)) await assertHeld(deps, input, name);
    return work(deps, input);
  };

async function assertHeld({ standing }: Deps, ref: BatchRef, name: string): Promise<void> {
  const holding = await standing(activityInfo().workflowExecution, ref).catch((error: unknown) => {
    // The folder, S3 or Temporal is away, and nothing was sent yet. Reading activities report that themselves, so
    // that the batch can show it.
    if (ONLY_READING.has(name)) return undefined;
    throw ApplicationFailure.create({ message: errorMessage(error), type: 'NothingSent' });
  });
  if (holding === undefined || (holding.is === 'rebuilding' && ONLY_READING.has(name))) return;
  refuseOthers(holding, ref, STORING.has(name) ? 'StoreFailed' : 'NothingSent');
}

/**
 * Checks the owner before an activity changes a file that another execution may own by now. Also fails if the folder
 * cannot be read.
 */
export async function confirmHeld({ standing }: Pick<Deps, 'standing'>, ref: BatchRef): Promise<void> {
  refuseOthers(await standing(activityInfo().workflowExecution, ref), ref, 'StoreFailed');
}

const RECENT_MS = 1_000;

/** The same for many changes in succession: the folder is read once a second. */
export function confirmingHeld(deps: Pick<Deps, 'standing'>, ref: BatchRef): () => Promise<void> {
  let confirmed = Promise.resolve();
  let at = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - at < RECENT_MS) return confirmed;
    at = now;
    return (confirmed = confirmHeld(deps, ref));
  };
}

/** The reason why a group must stop sending; undefined if it may continue. */
export function whyNotHeld(standing: Standing): string | undefined {
  switch (standing.is) {
    case 'ours':
      return undefined;
    case 'rebuilding':
      return rebuildingText(standing);
    case 'superseded':
      return `${holderText(standing.holder)} has the batch now`;
    case 'not-entered':
    case 'stranger':
      return 'another execution has the batch';
  }
}

const rebuildingText = ({ holder }: Extract<Standing, { readonly is: 'rebuilding' }>): string =>
  `the batch is being rebuilt by ${holderText(holder)}`;

/** The details of a failure because of a rebuild. They tell a batch that neither the service nor its folder is to blame. */
type HeldElsewhere = { readonly isHeldElsewhere: true };

function refuseOthers(standing: Standing, { batch, folder }: BatchRef, type: string): void {
  if (standing.is === 'ours') return;
  if (standing.is === 'superseded') {
    const { holder } = standing;
    const remedy = holder && commandThere(holder, 'status', { batch, folder });
    throw finalFailure(problem('E515', { batch, folder, holder: holderText(holder), there: remedy }));
  }
  if (standing.is === 'rebuilding') {
    const details: HeldElsewhere = { isHeldElsewhere: true };
    // Failures of storing and sending pause the batch; Temporal retries any other activity.
    throw ApplicationFailure.create({
      message: rebuildingText(standing),
      type,
      nonRetryable: type === 'StoreFailed',
      details: [details],
    });
  }
  // Retryable: nothing was sent, and a batch that is being rebuilt gets its new execution soon.
  throw ApplicationFailure.create({
    message: codedMessage(problem('E515', { batch, folder })),
    type: 'NothingSent',
  });
}
