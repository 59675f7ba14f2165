// Builds the progress of a batch, which its memo shows to people and programs: counts and a few reasons, at most 16 KB.

import type { RequestLedger } from '../accounting/request-ledger.ts';
import { costSoFar, rowsDone, type Tally } from '../accounting/tally.ts';
import { canaryProgress, type CanaryProgress } from '../canary.ts';
import type { FailureCounts } from '../outcome.ts';
import { slotsAllowed, usefulConcurrency } from '../sending-limits/adaptive-cap.ts';
import { neededNano, reservedNano, spentNano, unpricedIn } from '../sending-limits/budget.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { optionalLimits } from '../../options/limits.ts';
import type { PauseKind } from '../pausing/pause-kinds.ts';
import { type Acknowledgement, type State, unsentPlaces } from '../state/state.ts';
import { nextAccount } from '../state/lanes.ts';
import type { UsefulConcurrency } from '../useful-concurrency.ts';
import { type GpuLoad, loadByGpu } from './gpu-load.ts';
import { waitReason } from './wait-reason.ts';

/** Limits are those in force now; some exist only if the user set them. */
export type Progress = ReturnType<typeof optionalLimits> & {
  readonly batch: string;
  readonly rows: number;
  readonly concurrency: number;
  readonly retries: number;
  /** With -c auto: the useful concurrency of each GPU. */
  readonly useful?: readonly UsefulConcurrency[];
  /** With -c auto: how many runs may be outstanding now. */
  readonly slots?: number;
  /** Rows of `done` that earlier batches bought. */
  readonly reused?: number;
  /** Rows of `done` that could not be read from the sheet. */
  readonly refused?: number;
  /** Rows with an outcome whose files are stored. */
  readonly done: number;
  /** Rows with an outcome whose files are not stored yet. */
  readonly collecting: number;
  readonly sending: number;
  readonly running: number;
  readonly unconfirmed: number;
  /** Rows that wait for their next POST. */
  readonly retrying: number;
  /** Rows that were never sent. */
  readonly unsent: number;
  /** The same by the GPU that rows ask for; absent in what an older worker published. */
  readonly byGpu?: readonly GpuLoad[];
  readonly tally: Tally;
  readonly ledger: RequestLedger;
  readonly costUsd: number;
  /** Collected attempts of unknown cost, if there are any. */
  readonly unpriced?: number;
  /** With --max-cost: what counts as spent, and what the runs in flight may cost at most. */
  readonly budget?: {
    readonly spentNano: number;
    readonly reservedNano: number;
    /** The highest cost of all rows if none is retried; absent in the memo of an older worker. */
    readonly neededNano?: number;
    /** The reservation is an estimate, so the limit may be overrun. */
    readonly isEstimate?: true;
  };
  readonly canary?: CanaryProgress;
  /** In a pool: how many slots it has granted. */
  readonly granted?: number;
  readonly state: 'running' | 'paused' | 'cancelling' | 'finished';
  /** The newest pass whose rows are in the batch. */
  readonly pass: number;
  /** Rows that had an outcome and are sent again; they are not counted as done. */
  readonly again?: number;
  /** The latest user commands that the batch has applied. */
  readonly acknowledgements: readonly Acknowledgement[];
  /** Why the batch is paused, held back or waits, in one line. */
  readonly reason?: string;
  /** Every pause that holds, oldest first. */
  readonly pauses: readonly {
    readonly kind: PauseKind;
    readonly reason: string;
    /** The places of the rows that the reason is about. */
    readonly places?: readonly number[];
    readonly since: number;
  }[];
  readonly lastFailure?: State['lastFailure'];
  /** Failed attempts by reason, including those of rows that are tried again. */
  readonly failures?: FailureCounts;
  /** With a ladder: the GPU on which rows of each size class start; 0: their size is not known. */
  readonly ladder?: readonly { readonly size: number; readonly gpu: string; readonly isProven: boolean }[];
};

export function progress(state: State): Progress {
  const { params, phases, tally, ledger, lastFailure, failures, acknowledgements, again } = state;
  const pauses = [...state.pauses].map(([kind, { reason, places, sinceWallAt: since }]) =>
    definedOnly({ kind, reason, places, since }),
  );
  const inParts = [...state.parts.values()].reduce((sum, rows) => sum + rows.length, 0);
  return definedOnly({
    batch: params.batch,
    rows: params.rows,
    reused: params.reused,
    refused: params.refused,
    concurrency: params.concurrency,
    retries: params.retries,
    ...optionalLimits(params),
    useful: params.adaptive === undefined ? undefined : usefulConcurrency(state),
    slots: params.adaptive && slotsAllowed(state),
    done: rowsDone(tally) - again,
    collecting: phases.ended + inParts,
    sending: phases.sending,
    running: phases.running,
    unconfirmed: phases.unconfirmed,
    retrying: phases.waiting,
    unsent: unsentPlaces(state),
    byGpu: loadByGpu(state.lanes),
    tally,
    ledger,
    costUsd: costSoFar(tally),
    unpriced: unpricedIn(state) || undefined,
    budget: params.maxCostNano === undefined ? undefined : budgetOf(state),
    canary: canaryProgress(state),
    granted: state.membership?.limit,
    state: statusOf(state),
    pass: state.pass,
    again: again > 0 ? again : undefined,
    acknowledgements,
    pauses,
    reason: pauses[0]?.reason ?? waitReason(state),
    lastFailure,
    failures,
    ladder: params.ladder && ladderOf(state),
  });
}

const budgetOf = (state: State): Progress['budget'] =>
  definedOnly({
    spentNano: spentNano(state),
    reservedNano: reservedNano(state),
    neededNano: neededNano(state),
    isEstimate: (state.params.reserve ?? state.params.learnsCost) && (true as const),
  });

const ladderOf = ({ lanes }: State): Progress['ladder'] =>
  lanes
    .flatMap((lane) => lane.climb && { ...lane.climb, gpu: nextAccount(lane).gpu as string })
    .filter((climb) => climb !== undefined)
    .map(({ size, gpu, isProven }) => ({ size, gpu, isProven }))
    .sort((a, b) => a.size - b.size);

export function statusOf(state: State): Progress['state'] {
  if (state.finished) return 'finished';
  if (state.pauses.size > 0 && !state.isClosed) return 'paused';
  return state.cancelling === undefined ? 'running' : 'cancelling';
}
