// Decides whether a process that stays may get a run.
//
//      loading ──{"ready":true}──▶ ready ──a run──▶ busy ──its answer──▶ ready
//         │                                                                │
//         └──its end──▶ another is started; after three that never answered, the program is blocked

import { span } from '../../../options/text/printed-numbers.ts';

export type ProcessFacts = {
  readonly isAlive: boolean;
  readonly exitCode: number | undefined;
  /** The process is being ended by its service. */
  readonly isEnding: boolean;
  readonly isReady: boolean;
  /** The program has said that it takes no more runs. */
  readonly isLeaving: boolean;
  readonly hasAnswered: boolean;
  /** Whether it has a run that it has not answered. */
  readonly isBusy: boolean;
  readonly forMs: number;
  /** How many processes of this program have ended before this one without any answer. */
  readonly deaths: number;
  readonly readyMs: number;
  /** The end of the process in words. */
  readonly endText: string;
};

export type ProcessVerdict = { readonly deaths: number } & (
  | { readonly kind: 'ready' }
  | { readonly kind: 'wait'; readonly reason: string }
  /** The process is over, and a new one may be started. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'postponed'; readonly reason: string }
  /** No run of the program may begin until a person has changed something. */
  | { readonly kind: 'blocked'; readonly reason: string }
);

const MAX_DEATHS = 3;

const READY_LINE = '{"ready":true}';

export function processVerdict(facts: ProcessFacts): ProcessVerdict {
  const { isAlive, exitCode, isEnding, isReady, isLeaving, hasAnswered, isBusy, forMs, deaths, readyMs } =
    facts;
  if (isEnding && isAlive) return { kind: 'wait', reason: 'its process is being ended', deaths };
  if (!isAlive || exitCode !== undefined) return afterEnd(facts);
  if (isLeaving && hasAnswered && !isBusy) return { kind: 'gone', deaths: 0 };
  if (isReady)
    return isBusy ? { kind: 'wait', reason: 'it executes a run', deaths } : { kind: 'ready', deaths };
  if (forMs < readyMs)
    return { kind: 'wait', reason: `the program loads, for ${span(forMs / 1_000)} now`, deaths };
  const minutes = Math.round(readyMs / 6_000) / 10;
  return {
    kind: 'blocked',
    deaths,
    reason: `the program was not ready within ${minutes} min: once its model is loaded, it appends the line ${READY_LINE} to the file $RUNSHEET_ANSWERS`,
  };
}

function afterEnd({ exitCode, hasAnswered, isBusy, deaths, endText }: ProcessFacts): ProcessVerdict {
  if (hasAnswered) return { kind: 'gone', deaths: 0 };
  // The run that it had has failed by this end.
  if (isBusy) return { kind: 'gone', deaths };
  if (exitCode === 75)
    return { kind: 'postponed', deaths, reason: `the program asks to be started again later: ${endText}` };
  const next = deaths + 1;
  if (exitCode === 126 || exitCode === 127) return { kind: 'blocked', deaths: next, reason: endText };
  if (next < MAX_DEATHS) return { kind: 'gone', deaths: next };
  return {
    kind: 'blocked',
    deaths: next,
    reason: `the program ended ${next} times before its first answer; the last time, ${endText}`,
  };
}
