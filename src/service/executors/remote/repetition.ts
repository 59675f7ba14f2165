// What is sent or executed again, decided here alone, by what the server guarantees for the run:
//
//      sent ──its answer is lost──▶ afterLostAnswer ──▶ wait │ send │ failed │ end-unknown
//      sent ──its key is used up──▶ afterSpent ──▶ wait │ send-anew │ end-unknown
//      sent ──its server does not have it──▶ afterLoss ──▶ removed │ again │ failed │ end-unknown
//      any ──its server does not answer for long──▶ afterAbsence ──▶ stay │ move │ failed
//
// Everything that is repeated has a bound.

import type { AssignedRun, RunState } from './assigned-run.ts';
import type { Backend, Guarantee } from './backend.ts';

/** A workflow that calls a paid service elsewhere is not executed again on suspicion, wherever it runs. */
export const guaranteeFor = (
  { guarantee }: Pick<Backend, 'guarantee'>,
  { workflow }: Pick<AssignedRun, 'workflow'>,
): Guarantee => (workflow.isPaid ? { ...guarantee, gone: 'unknown' } : guarantee);

type End =
  | { readonly kind: 'failed'; readonly reason: string }
  /** It may have been executed, and nothing can tell. */
  | { readonly kind: 'end-unknown'; readonly reason: string };

export type LostAnswer = {
  /** How often an answer did not say whether the server took it, and what the last one said. */
  readonly unclear: number;
  readonly reason: string | undefined;
  /** For how long it has not been found there; undefined if that was not looked at. */
  readonly absentForMs: number | undefined;
  /** Since the first request for this try. */
  readonly askedForMs: number;
  /** How long a request whose answer was lost may still arrive. */
  readonly lateMs: number;
};

/** So often a request may fail without a sign of the run: then it is the request that the server cannot bear. */
const UNCLEAR_MOST = 10;

/** A request was answered unclearly, or not at all, and the server does not show the run. */
export function afterLostAnswer(
  guarantee: Guarantee,
  { unclear, reason, absentForMs, askedForMs, lateMs }: LostAnswer,
): { readonly kind: 'wait' } | { readonly kind: 'send' } | End {
  const unknown = {
    kind: 'end-unknown',
    reason: `does not say whether it took this run${reason === undefined ? '' : `: ${reason}`}`,
  } as const;
  if (guarantee.lost === 'told-or-unknown')
    return askedForMs < guarantee.boundMs ? { kind: 'wait' } : unknown;
  // It was looked for each time, and was never there, if that can be seen.
  if (unclear >= UNCLEAR_MOST)
    return guarantee.gone === 'unknown' ? unknown : { kind: 'failed', reason: `never took it: ${reason}` };
  if (guarantee.lost === 'same-key' && askedForMs >= guarantee.ms) return unknown;
  const isDue = guarantee.lost === 'again' || (absentForMs !== undefined && absentForMs >= lateMs);
  return { kind: isDue ? 'send' : 'wait' };
}

/** Its key is used up, and the server does not show what came of it. `isAbsent`: it showed all that it has. */
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
  /** Since it was first found that the key is used up. */
  readonly unknownForMs: number;
  /** For how long a run may still show. */
  readonly spentMs: number;
  /** After so long, the server itself has given up the request that used the key. */
  readonly provedMs: number;
};

/** So often a server may stop while it is seen to execute a run. */
const DEATHS_MOST = 2;
/** So often servers may be lost with it in all. One that only waits there is innocent, and does not share the death of another. */
const LOSSES_MOST = 10;

type Counts = Pick<RunState, 'deaths' | 'losses'>;
const countsOf = ({ deaths, losses = 0 }: RunState): Required<Counts> => ({ deaths, losses });

/** The server has the run neither in its queue nor among those that ended. `neverStopped`: its process is the one that had it. */
export function afterLoss(
  one: Pick<AssignedRun, 'state' | 'isWithdrawn' | 'workflow'>,
  { guarantee, name, neverStopped }: { guarantee: Guarantee; name: string; neverStopped: boolean },
):
  | { readonly kind: 'removed' }
  | { readonly kind: 'again'; readonly reason: string; readonly counts: Counts }
  | End {
  const { startedMs } = one.state;
  const { deaths, losses } = countsOf(one.state);
  // The request may have removed it although its answer was lost.
  if (neverStopped && one.isWithdrawn && startedMs === undefined)
    return {
      kind: 'again',
      reason: 'was to give it to another server: it is sent again',
      counts: { deaths, losses },
    };
  if (neverStopped) return { kind: 'removed' };
  // Whether it had begun is not always known.
  if (guarantee.gone === 'unknown')
    return {
      kind: 'end-unknown',
      reason: one.workflow.isPaid
        ? 'stopped when it had this run, which calls a paid service'
        : 'does not know any more how this run has ended',
    };
  const isDeath = startedMs !== undefined;
  if (isDeath && deaths + 1 >= DEATHS_MOST)
    return { kind: 'failed', reason: `${name} stopped twice while it executed this run` };
  const counts = { deaths: deaths + Number(isDeath), losses: losses + 1 };
  if (counts.losses >= LOSSES_MOST)
    return { kind: 'failed', reason: `${name} stopped when it had this run: ${lostText}` };
  return {
    kind: 'again',
    counts,
    reason: isDeath
      ? 'stopped while it executed this run: it is executed again'
      : 'was restarted when it had this run, and may have begun with it: it is sent again',
  };
}

const lostText = `servers were lost with it ${LOSSES_MOST} times`;

/** Its server does not answer for long: whether another one may get it. */
export function afterAbsence(
  { state, mustLook }: Pick<AssignedRun, 'state' | 'mustLook'>,
  { gone }: Pick<Guarantee, 'gone'>,
): { readonly kind: 'stay' } | { readonly kind: 'move' } | End {
  if (!(state.isSent || mustLook)) return { kind: 'move' };
  if (gone === 'unknown') return { kind: 'stay' };
  return countsOf(state).losses + 1 >= LOSSES_MOST ? { kind: 'failed', reason: lostText } : { kind: 'move' };
}
