// The rows of a snapshot as short tuples: one payload must have room for all of them (R16).

import type { AttemptRun } from '../attempt.ts';
import { OUTCOMES, type PastAttempt } from '../outcome.ts';
import {
  onRung,
  type Deferral,
  type EndedRow,
  type LastAttempt,
  type RowState,
  type TurnedAway,
} from './row-state.ts';

export type RunTuple = readonly [place: number, attempt: number, runId: string];
type PastTuple = readonly [
  attempt: number,
  outcome: number,
  runId: string | 0,
  reason: string | 0,
  rung?: number,
];
export type RowTuple = readonly [
  phase: string,
  place: number,
  attempt: number,
  /** With a ladder also the rung. */
  tries: number | readonly [tries: number, rung: number],
  past: readonly PastTuple[],
  ...unknown[],
];
export type EndedTuple = readonly [
  place: number,
  past: readonly PastTuple[],
  isLastTry: 0 | 1,
  deferral: Deferral | 0,
];

export const packRun = ({ place, attempt, runId }: AttemptRun): RunTuple => [place, attempt, runId];
export const readRun = ([place, attempt, runId]: RunTuple): AttemptRun => ({ place, attempt, runId });

const ABSENT = -1;

const packPast = ({ attempt, outcome, runId, reason, rung }: PastAttempt): PastTuple => {
  const packed = [
    attempt,
    outcome === 'absent' ? ABSENT : OUTCOMES.indexOf(outcome),
    runId ?? 0,
    reason ?? 0,
  ] as const;
  return rung === undefined ? packed : [...packed, rung];
};

const readPast = ([attempt, outcome, runId, reason, rung]: PastTuple): PastAttempt => ({
  attempt,
  outcome: OUTCOMES[outcome] ?? 'absent',
  ...(runId === 0 ? {} : { runId }),
  ...(reason === 0 ? {} : { reason }),
  ...onRung(rung),
});

export const packEnded = ({ place, attempts, isLastTry, deferral }: EndedRow): EndedTuple => [
  place,
  attempts.map(packPast),
  isLastTry ? 1 : 0,
  deferral ?? 0,
];

export const readEnded = ([place, attempts, isLastTry, deferral]: EndedTuple): EndedRow => ({
  place,
  attempts: attempts.map(readPast),
  ...(isLastTry === 1 ? { isLastTry: true as const } : {}),
  ...(deferral === 0 ? {} : { deferral }),
});

export function packRow(row: Exclude<RowState, { phase: 'sending' }>): RowTuple {
  const tries = row.rung === undefined ? row.tries : ([row.tries, row.rung] as const);
  const base = [row.place, row.attempt, tries, row.past.map(packPast)] as const;
  switch (row.phase) {
    case 'waiting':
      return ['w', ...base, row.dueAt, row.turnedAway ?? 0];
    case 'running':
      return ['r', ...base, row.runId, row.since, row.overdue ? [row.overdue.at, row.overdue.reason] : 0];
    case 'unconfirmed':
      return ['u', ...base, row.askedAt, row.askedWallAt, row.sentBy, row.reason, row.missedAt ?? 0];
    case 'ended':
      return [
        'e',
        ...base,
        row.at,
        OUTCOMES.indexOf(row.outcome),
        row.runId ?? 0,
        row.reason ?? 0,
        row.deferral ? [row.deferral.tries, row.deferral.notBefore] : 0,
      ];
  }
}

type Rest = {
  readonly w: [dueAt: number, turnedAway: TurnedAway | 0];
  readonly r: [runId: string, since: number, overdue: [at: number, reason: string] | 0];
  readonly u: [askedAt: number, askedWallAt: number, sentBy: number, reason: string, missedAt: number];
  readonly e: [
    at: number,
    outcome: number,
    runId: string | 0,
    reason: string | 0,
    deferral: [tries: number, notBefore: number] | 0,
  ];
};

export function readRow([phase, place, attempt, counted, packed, ...rest]: RowTuple): RowState {
  const [tries, rung] = typeof counted === 'number' ? [counted] : counted;
  const base = { place, attempt, tries, past: packed.map(readPast), ...onRung(rung) };
  switch (phase) {
    case 'w': {
      const [dueAt, turnedAway] = rest as Rest['w'];
      return { ...base, phase: 'waiting', dueAt, ...(turnedAway === 0 ? {} : { turnedAway }) };
    }
    case 'r': {
      const [runId, since, overdue] = rest as Rest['r'];
      const late = overdue === 0 ? {} : { overdue: { at: overdue[0], reason: overdue[1] } };
      return { ...base, phase: 'running', runId, since, ...late };
    }
    case 'u': {
      const [askedAt, askedWallAt, sentBy, reason, missedAt] = rest as Rest['u'];
      const missed = missedAt === 0 ? {} : { missedAt };
      return { ...base, phase: 'unconfirmed', askedAt, askedWallAt, sentBy, reason, ...missed };
    }
    default: {
      const [at, outcome, runId, reason, deferral] = rest as Rest['e'];
      const end = readPast([attempt, outcome, runId, reason]) as LastAttempt;
      const waits = deferral === 0 ? {} : { deferral: { tries: deferral[0], notBefore: deferral[1] } };
      return { ...base, ...end, phase: 'ended', at, ...waits };
    }
  }
}
