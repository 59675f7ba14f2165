// Decides what became of a try from the facts in its folder and about the processes that execute it.

import type { RunAnswer } from './answers.ts';

export type TryFacts = {
  /** Whether the process stays after the run. */
  readonly stays: boolean;
  /** Whether the try was claimed before anybody looked for its processes. */
  readonly isClaimed: boolean;
  /** Whether a service could still claim the try for the program. */
  readonly mayBegin: boolean;
  readonly isAlive: boolean;
  /** The exit code of the process, read after the look for processes. */
  readonly exitCode: number | undefined;
  /** Whether the shim ended the process because the time of this run was up. */
  readonly isAtLimit: boolean;
  /** The program closed its input before it could get the run. */
  readonly isUndelivered: boolean;
  readonly answer: RunAnswer | undefined;
};

export type TryVerdict =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running' }
  /** Nothing has begun, and nothing will once the try is forbidden. */
  | { readonly kind: 'unclaimed' }
  | { readonly kind: 'undelivered' }
  /** Nothing of the try lives, and it has no end: the machine or the shim died. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'answered'; readonly answer: RunAnswer }
  | { readonly kind: 'exited'; readonly code: number };

export function tryVerdict(facts: TryFacts): TryVerdict {
  const { stays, answer, exitCode, isAlive, isAtLimit, isClaimed, isUndelivered, mayBegin } = facts;
  // An answer counts whatever became of its process.
  if (answer !== undefined) return { kind: 'answered', answer };
  if (isUndelivered) return { kind: 'undelivered' };
  const hasExited = exitCode !== undefined;
  // The process of a try that stays may have lived and died for other runs.
  if (stays && !isClaimed)
    return isAlive && !hasExited && mayBegin ? { kind: 'waiting' } : { kind: 'unclaimed' };
  if (isAlive && !hasExited) return { kind: 'running' };
  if (isAtLimit) return { kind: 'timeout' };
  if (hasExited) return { kind: 'exited', code: exitCode };
  return isClaimed ? { kind: 'lost' } : { kind: 'unclaimed' };
}
