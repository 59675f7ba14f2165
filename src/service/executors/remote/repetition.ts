// What is sent or executed again, decided here alone, by what the server guarantees for the run:
//
//      sent ──its answer is lost──▶ afterLostAnswer ──▶ wait │ send │ failed │ end-unknown
//      sent ──its server does not have it──▶ afterLoss ──▶ removed │ again │ failed │ end-unknown
//      any ──its server does not answer for long──▶ mayMove ──▶ another server gets it, or it stays
//
// Everything that is repeated has a bound.

import type { AssignedRun } from './assigned-run.ts';
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

const DEATHS_MOST = 2;

/** The server has the run neither in its queue nor among those that ended. `neverStopped`: its process is the one that had it. */
export function afterLoss(
  { state, isWithdrawn, workflow }: AssignedRun,
  { guarantee, name, neverStopped }: { guarantee: Guarantee; name: string; neverStopped: boolean },
):
  | { readonly kind: 'removed' }
  | { readonly kind: 'again'; readonly reason: string; readonly deaths: number }
  | End {
  const { startedMs, deaths } = state;
  // The request may have removed it although its answer was lost.
  if (neverStopped && isWithdrawn && startedMs === undefined)
    return { kind: 'again', reason: 'was to give it to another server: it is sent again', deaths };
  if (neverStopped) return { kind: 'removed' };
  // Whether it had begun is not always known.
  if (guarantee.gone === 'unknown')
    return {
      kind: 'end-unknown',
      reason: workflow.isPaid
        ? 'stopped when it had this run, which calls a paid service'
        : 'does not know any more how this run has ended',
    };
  if (startedMs === undefined)
    return {
      kind: 'again',
      reason: 'was restarted when it had this run, and may have begun with it: it is sent again',
      deaths,
    };
  return deaths + 1 >= DEATHS_MOST
    ? { kind: 'failed', reason: `${name} stopped twice while it executed this run` }
    : {
        kind: 'again',
        reason: 'stopped while it executed this run: it is executed again',
        deaths: deaths + 1,
      };
}

/** Whether another server may get it, because its own does not answer for long or exists no more. */
export const mayMove = (
  { state, mustLook }: Pick<AssignedRun, 'state' | 'mustLook'>,
  { gone }: Pick<Guarantee, 'gone'>,
): boolean => gone === 'again' || !(state.isSent || mustLook);
