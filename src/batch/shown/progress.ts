// Builds the progress of a batch, which its memo shows to people and programs: counts and a few reasons, at most 16 KB.

import type { RequestLedger } from '../accounting/request-ledger.ts';
import { costSoFar, rowsDone, type Tally } from '../accounting/tally.ts';
import { GPU_NAME_CHARS, GPU_NAMES_MAX } from '../bounds.ts';
import { canaryProgress, type CanaryProgress } from '../canary.ts';
import type { FailureCounts } from '../outcome.ts';
import { slotsAllowed, usefulConcurrency } from '../sending-limits/adaptive-cap.ts';
import { neededNano, reservedNano, spentNano } from '../sending-limits/budget.ts';
import { grantReason } from '../decisions/send.ts';
import { startsPerMinute } from '../sending-limits/rate-limit.ts';
import { heldRows } from '../trial.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { optionalLimits } from '../../options/limits.ts';
import { plural } from '../../options/number-text.ts';
import { alikeText } from '../alike-ends.ts';
import type { PauseKind } from '../pausing/pause-kinds.ts';
import { type Account, accountsOf, type Lane, nextAccount, unsentIn } from '../state/lanes.ts';
import {
  type Acknowledgement,
  freeSlots,
  hasMoreToSend,
  hasUnsent,
  type State,
  unsentPlaces,
} from '../state/state.ts';
import type { UsefulConcurrency } from '../useful-concurrency.ts';

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
  /** With --max-cost: what counts as spent, and what the runs in flight may cost at most. */
  readonly budget?: {
    readonly spentNano: number;
    readonly reservedNano: number;
    /** What all rows cost at most if none is retried; absent in what an older worker published. */
    readonly neededNano?: number;
    /** What is reserved is an estimate, so the limit may be overrun. */
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
  /** Attempts that failed, also of rows that are tried again, by why. */
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
    isEstimate: state.params.reserve && (true as const),
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

// Sums up what the lanes hold by the GPU that rows ask for, for the progress of a batch.

/** `gpu` is absent for rows that ask for the deployment's; GPUs beyond the maximum are together as `other`. */
export type GpuLoad = {
  readonly gpu?: string;
  readonly outstanding: number;
  /** Rows that wait for their next POST. */
  readonly waiting: number;
  /** Rows that were never sent. */
  readonly unsent: number;
};

export function loadByGpu(lanes: readonly Lane[]): readonly GpuLoad[] {
  const loads = new Map<string | undefined, GpuLoad>();
  const add = ({ gpu }: Account, { outstanding, waiting, unsent }: GpuLoad): void => {
    const short = gpu?.slice(0, GPU_NAME_CHARS);
    const name = loads.has(short) || loads.size < GPU_NAMES_MAX ? short : 'other';
    const known = loads.get(name) ?? { outstanding: 0, waiting: 0, unsent: 0 };
    loads.set(name, {
      ...(name === undefined ? {} : { gpu: name }),
      outstanding: known.outstanding + outstanding,
      waiting: known.waiting + waiting,
      unsent: known.unsent + unsent,
    });
  };
  for (const lane of lanes)
    for (const account of accountsOf(lane))
      add(account, {
        outstanding: account.outstanding,
        waiting: account.waiting.length,
        unsent: account === nextAccount(lane) ? unsentIn(lane) : 0,
      });
  return [...loads.values()];
}

// R30: names why a batch that is not paused waits although it has work, in one line. While runs are in flight that may end, it waits
// for them, and that is shown by their number; so only what holds it back beside them has a reason then.

/** undefined if the batch waits for runs only, or has ended. */
export function waitReason(state: State): string | undefined {
  if (state.finished) return undefined;
  const heldBack = troubleOf(state) ?? trialReason(state) ?? grantReason(state) ?? filesReason(state);
  return heldBack ?? (hasRuns(state) ? undefined : idleReason(state));
}

/** Why groups could not be sent, as long as there are slots and rows to send. */
const troubleOf = (state: State): string | undefined =>
  hasMoreToSend(state) && freeSlots(state) > 0 && state.unclearSince === undefined
    ? state.trouble
    : undefined;

/** Runs in flight may still show that rows can succeed. */
function trialReason({ trial, phases }: State): string | undefined {
  if (trial?.heldAt === undefined) return undefined;
  const waits = `nothing is sent until ${plural(phases.running + phases.sending, 'run')} in flight have ended`;
  return `${alikeText(trial.ends)}; ${waits}`;
}

/** Whether the service still has to end something for the batch. Runs that take too long are being cancelled. */
const hasRuns = ({ phases, overdue }: State): boolean => phases.sending + phases.running > overdue.size;

/** Files that could not be fetched, whatever else the batch does. */
function filesReason({ deferred, filesFault }: State): string | undefined {
  if (deferred.length === 0) return undefined;
  const why = filesFault === undefined ? '' : `: ${filesFault}`;
  return `waiting for files: ${plural(deferred.length, 'row')} to try again${why}`;
}

function unconfirmedReason({ phases, unclearSince, trouble }: State): string {
  const answer = unclearSince === undefined ? '' : ` (${trouble})`;
  return `${plural(phases.unconfirmed, 'attempt')} may have started runs${answer}; waiting for run lists that show them or rule them out`;
}

function idleReason(state: State): string | undefined {
  const { phases, overdue, isLoadingPass, pass, wantedPass } = state;
  if (overdue.size > 0)
    return `waiting for the service to cancel ${plural(overdue.size, 'run')} that took too long`;
  if (phases.unconfirmed > 0) return unconfirmedReason(state);
  const fetching = [...state.parts.values()].reduce((sum, rows) => sum + rows.length, 0);
  if (fetching > 0) return `waiting for files: ${plural(fetching, 'row')}`;
  if (isLoadingPass || pass < wantedPass) return 'waiting for rows that were added or sent again';
  if (state.isClosed) return 'waiting for notifications';
  if (state.closing) return 'waiting for the results to be written';
  if (state.isStopping) return 'waiting for a new workflow run';
  const { length: held } = heldRows(state);
  if (phases.waiting > held) return `waiting for another attempt of ${plural(phases.waiting - held, 'row')}`;
  if (hasUnsent(state))
    return startsPerMinute(state).at > state.now ? 'waiting for --rate' : 'waiting to send its next rows';
  if (state.groups.size > 0)
    return `waiting for the end of ${plural(state.groups.size, 'group')} of requests`;
  if (state.cancels.size > 0) return `waiting for the service to cancel ${plural(state.cancels.size, 'run')}`;
  return state.loggingNow + state.keeping > 0 ? 'waiting for its folder to be written' : undefined;
}
