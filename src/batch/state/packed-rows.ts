// The rows of a snapshot as short tuples: one payload must have room for all of them (R16).

import { OUTCOMES, type PastAttempt, type AttemptRun } from '../outcome.ts';
import {
  type Deferral,
  type EndedRow,
  type LastAttempt,
  onRung,
  type RowState,
  type TurnedAway,
  UNTIL_VERDICT,
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
  /** With a ladder also the rung; after proofs of absence also their number, with rung -1 if there is no ladder. */
  tries: number | readonly [tries: number, rung: number, absences?: number],
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
  const base = [row.place, row.attempt, packTries(row), row.past.map(packPast)] as const;
  switch (row.phase) {
    case 'waiting': {
      const dueAt = row.dueAt === UNTIL_VERDICT ? AT_VERDICT : row.dueAt;
      return ['w', ...base, dueAt, row.turnedAway ?? 0, row.refusal ?? 0];
    }
    case 'running':
      return ['r', ...base, row.runId, row.since, row.overdue ? [row.overdue.at, row.overdue.reason] : 0];
    case 'unconfirmed':
      return [
        'u',
        ...base,
        row.askedAt,
        row.askedWallAt,
        row.sentBy,
        row.reason,
        row.missedAt ?? 0,
        row.serviceAt ?? 0,
      ];
    case 'ended':
      return [
        'e',
        ...base,
        row.at,
        OUTCOMES.indexOf(row.outcome),
        row.runId ?? 0,
        row.reason ?? 0,
        packDeferral(row.deferral),
      ];
  }
}

type Rest = {
  readonly w: [dueAt: number, turnedAway: TurnedAway | 0, refusal?: string | 0];
  readonly r: [runId: string, since: number, overdue: [at: number, reason: string] | 0];
  readonly u: [
    askedAt: number,
    askedWallAt: number,
    sentBy: number,
    reason: string,
    missedAt: number,
    serviceAt?: number,
  ];
  readonly e: [
    at: number,
    outcome: number,
    runId: string | 0,
    reason: string | 0,
    deferral: DeferralTuple | 0,
  ];
};

/** JSON has no infinite numbers. */
const AT_VERDICT = -1;
const NO_RUNG = -1;

const packTries = ({ tries, rung, absences }: RowState): RowTuple[3] => {
  if (absences !== undefined) return [tries, rung ?? NO_RUNG, absences];
  return rung === undefined ? tries : [tries, rung];
};

function readTries(packed: RowTuple[3]): Pick<RowState, 'tries' | 'rung' | 'absences'> {
  if (typeof packed === 'number') return { tries: packed };
  const [tries, rung, absences] = packed;
  return { tries, ...onRung(rung === NO_RUNG ? undefined : rung), ...(absences && { absences }) };
}

type DeferralTuple = readonly [tries: number, notBefore: number, isEmpty?: 1];

function packDeferral(deferral: Deferral | undefined): DeferralTuple | 0 {
  if (deferral === undefined) return 0;
  const { tries, notBefore, isEmpty } = deferral;
  return isEmpty ? [tries, notBefore, 1] : [tries, notBefore];
}

const readDeferral = ([tries, notBefore, isEmpty]: DeferralTuple): Deferral => ({
  tries,
  notBefore,
  ...(isEmpty === 1 ? { isEmpty: true as const } : {}),
});

export function readRow([phase, place, attempt, counted, packed, ...fields]: RowTuple): RowState {
  const base = { place, attempt, ...readTries(counted), past: packed.map(readPast) };
  switch (phase) {
    case 'w': {
      const [due, turnedAway, refusal = 0] = fields as Rest['w'];
      const dueAt = due === AT_VERDICT ? UNTIL_VERDICT : due;
      const answer = { ...(turnedAway === 0 ? {} : { turnedAway }), ...(refusal === 0 ? {} : { refusal }) };
      return { ...base, phase: 'waiting', dueAt, ...answer };
    }
    case 'r': {
      const [runId, since, overdue] = fields as Rest['r'];
      const late = overdue === 0 ? {} : { overdue: { at: overdue[0], reason: overdue[1] } };
      return { ...base, phase: 'running', runId, since, ...late };
    }
    case 'u': {
      const [askedAt, askedWallAt, sentBy, reason, missedAt, serviceAt = 0] = fields as Rest['u'];
      const missed = { ...(missedAt === 0 ? {} : { missedAt }), ...(serviceAt === 0 ? {} : { serviceAt }) };
      return { ...base, phase: 'unconfirmed', askedAt, askedWallAt, sentBy, reason, ...missed };
    }
    default: {
      const [at, outcome, runId, reason, deferral] = fields as Rest['e'];
      const end = readPast([attempt, outcome, runId, reason]) as LastAttempt;
      const waits = deferral === 0 ? {} : { deferral: readDeferral(deferral) };
      return { ...base, ...end, phase: 'ended', at, ...waits };
    }
  }
}
