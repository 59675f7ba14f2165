// The only place that decides what is sent or executed again, by the server's guarantee for the run:
//
//      sent ──its answer is lost──▶ afterLostAnswer ──▶ wait │ send │ failed │ end-unknown
//      sent ──its key is used up──▶ afterSpent ──▶ wait │ send-anew │ end-unknown
//      sent ──its server does not have it──▶ afterLoss ──▶ removed │ again │ failed │ end-unknown
//      any ──its server does not answer for long──▶ afterAbsence ──▶ stay │ move │ failed
//
// Every repetition is bounded.

import { timeLimitMs, type AssignedRun, type RunState } from './assigned-run.ts';
import type { Backend, Guarantee } from '../backend.ts';

/** How long a run waits for the key of the account that was asked for it. */
const OTHER_ACCOUNT_MS = 3_600_000;

/** A task that calls a paid service elsewhere is never repeated on suspicion, wherever it runs. */
export function guaranteeFor(
  backend: Pick<Backend, 'guarantee' | 'account'>,
  assigned: Pick<AssignedRun, 'task' | 'run' | 'state'>,
): Guarantee {
  const { guarantee } = backend;
  const [now, then] = [backend.account?.(), assigned.state.account];
  // Neither the list nor the idempotency key of another account says anything about the run.
  const isProof = guarantee.lost === 'asked' || guarantee.lost === 'same-key';
  if (isProof && now !== undefined && then !== undefined && now !== then)
    return { lost: 'told-or-unknown', gone: 'unknown', boundMs: OTHER_ACCOUNT_MS, isOtherAccount: true };
  const bounded =
    guarantee.lost === 'told-or-unknown' && guarantee.isAfterLimit === true
      ? { ...guarantee, boundMs: guarantee.boundMs + timeLimitMs(assigned) }
      : guarantee;
  return assigned.task.isPaid ? { ...bounded, gone: 'unknown' } : bounded;
}

/** Whether each request is stored before it is made: nothing else tells a restarted service that it was made. */
export const isNotedFirst = ({ lost }: Guarantee): boolean => lost === 'told-or-unknown' || lost === 'again';

/** Runs whose answers were lost, and by when each of them has an end, in milliseconds since 1970. */
export type Unanswered = { readonly runs: number; readonly untilMs: number };

/** The runs of a server whose acceptance only its own messages can prove; null if there are none. */
export function unansweredAt(
  backend: Pick<Backend, 'guarantee' | 'account'>,
  runs: Iterable<Pick<AssignedRun, 'task' | 'run' | 'state' | 'phase' | 'mustLook'>>,
): Unanswered | null {
  const ends = [...runs].flatMap((assigned) => {
    const { phase, mustLook, state } = assigned;
    const guarantee = guaranteeFor(backend, assigned);
    const isOpen = phase === 'placed' && mustLook && state.askedMs !== undefined;
    return isOpen && guarantee.lost === 'told-or-unknown' ? [state.askedMs + guarantee.boundMs] : [];
  });
  return ends.length === 0 ? null : { runs: ends.length, untilMs: Math.max(...ends) };
}

type EndDecision =
  | { readonly kind: 'failed'; readonly reason: string }
  /** The run may have been executed, and nothing can tell. */
  | { readonly kind: 'end-unknown'; readonly reason: string };

export type LostAnswer = {
  /** How many answers left open whether the server took the run, and the text of the last one. */
  readonly unclear: number;
  readonly reason: string | undefined;
  /** How long the server has not shown the run; undefined if nobody looked. */
  readonly absentForMs: number | undefined;
  /** Time since the first request of this try. */
  readonly askedForMs: number;
  /** How long a request whose answer was lost may still arrive. */
  readonly lateMs: number;
  /** The same for a server that is slow to show its runs. */
  readonly settledMs: number;
};

/** After this many failures without a sign of the run, the request itself is what the server cannot bear. */
const MAX_UNCLEAR = 10;

/** Decides about a request that was answered unclearly or not at all, while the server does not show the run. */
export function afterLostAnswer(
  guarantee: Guarantee,
  { unclear, reason, absentForMs, askedForMs, lateMs, settledMs }: LostAnswer,
): { readonly kind: 'wait' } | { readonly kind: 'send' } | EndDecision {
  const isOther = guarantee.lost === 'told-or-unknown' && guarantee.isOtherAccount === true;
  const why = isOther ? 'it was asked with the key of another account' : reason;
  const unknown = {
    kind: 'end-unknown',
    reason: `does not say whether it took this run${why === undefined ? '' : `: ${why}`}`,
  } as const;
  if (guarantee.lost === 'told-or-unknown')
    return askedForMs < guarantee.boundMs ? { kind: 'wait' } : unknown;
  // If a look is possible, the run was looked for each time and never found.
  if (unclear >= MAX_UNCLEAR)
    return guarantee.gone === 'unknown' ? unknown : { kind: 'failed', reason: `never took it: ${reason}` };
  if (guarantee.lost === 'same-key' && askedForMs >= guarantee.ms) return unknown;
  if (guarantee.lost === 'asked' && askedForMs >= (guarantee.forMs ?? Number.POSITIVE_INFINITY))
    return unknown;
  const showsMs = guarantee.lost === 'asked' && guarantee.isSlow === true ? settledMs : lateMs;
  const isDue = guarantee.lost === 'again' || (absentForMs !== undefined && absentForMs >= showsMs);
  return { kind: isDue ? 'send' : 'wait' };
}

/** Decides about a used key whose job the server does not show. `isAbsent`: the server showed all its jobs. */
export function afterSpent(
  guarantee: Guarantee,
  { isAbsent, unknownForMs, spentMs, provedMs }: Spent,
): 'wait' | 'send-anew' | 'end-unknown' {
  const isProvable = guarantee.lost === 'same-key' && guarantee.provesAbsence;
  if (unknownForMs < (isProvable ? provedMs : spentMs)) return 'wait';
  return isProvable && isAbsent ? 'send-anew' : 'end-unknown';
}
type Spent = {
  readonly isAbsent: boolean;
  /** Time since the key was first found to be used up. */
  readonly unknownForMs: number;
  /** How long a run may take to show. */
  readonly spentMs: number;
  /** After this time, the server itself has given up the request that used the key. */
  readonly provedMs: number;
};

/** How often a server may stop while it executes the run. */
const MAX_DEATHS = 2;
/**
 * How often servers may be lost with the run in total. A run that only waits there is innocent, and does not
 * share the death of another.
 */
const MAX_LOSSES = 10;

export type LossCounts = Pick<RunState, 'deaths' | 'losses'>;
const countsOf = ({ deaths, losses = 0 }: RunState): Required<LossCounts> => ({ deaths, losses });

/**
 * Decides about a run that is neither in the queue nor among the ended runs. `neverStopped`: the server
 * process is the one that held the run.
 */
export function afterLoss(
  assigned: Pick<AssignedRun, 'state' | 'withdrawalAsked' | 'task'>,
  {
    guarantee,
    name,
    neverStopped,
    hasBegun = false,
  }: {
    readonly guarantee: Guarantee;
    readonly name: string;
    readonly neverStopped: boolean;
    /** Whether the server knows that the run had begun. */
    readonly hasBegun?: boolean | undefined;
  },
):
  | { readonly kind: 'removed' }
  | { readonly kind: 'again'; readonly reason: string; readonly counts: LossCounts }
  | EndDecision {
  const { startedMs } = assigned.state;
  const { deaths, losses } = countsOf(assigned.state);
  // The removal may have worked although its answer was lost.
  if (neverStopped && assigned.withdrawalAsked && startedMs === undefined)
    return {
      kind: 'again',
      reason: 'was to give it to another server: it is sent again',
      counts: { deaths, losses },
    };
  if (neverStopped) return { kind: 'removed' };
  // Whether the run had begun is not always known.
  if (guarantee.gone === 'unknown')
    return {
      kind: 'end-unknown',
      reason: assigned.task.isPaid
        ? 'stopped when it had this run, which calls a paid service'
        : 'does not know any more how this run has ended',
    };
  const isDeath = startedMs !== undefined || hasBegun;
  if (isDeath && deaths + 1 >= MAX_DEATHS)
    return { kind: 'failed', reason: `${name} stopped twice while it executed this run` };
  const counts = { deaths: deaths + Number(isDeath), losses: losses + 1 };
  if (counts.losses >= MAX_LOSSES)
    return { kind: 'failed', reason: `${name} stopped when it had this run: ${lostText}` };
  return {
    kind: 'again',
    counts,
    reason: isDeath
      ? 'stopped while it executed this run: it is executed again'
      : 'was restarted when it had this run, and may have begun with it: it is sent again',
  };
}

const lostText = `servers were lost with it ${MAX_LOSSES} times`;

/** Decides whether another server may get the run of a server that does not answer for long. */
export function afterAbsence(
  { state, mustLook }: Pick<AssignedRun, 'state' | 'mustLook'>,
  { gone }: Pick<Guarantee, 'gone'>,
): { readonly kind: 'stay' } | { readonly kind: 'move' } | EndDecision {
  if (!(state.isSent || mustLook)) return { kind: 'move' };
  if (gone === 'unknown') return { kind: 'stay' };
  return countsOf(state).losses + 1 >= MAX_LOSSES ? { kind: 'failed', reason: lostText } : { kind: 'move' };
}
