// The state in which a batch starts.

import { NO_LEDGER } from '../accounting/request-ledger.ts';
import { NO_TALLY, tallyOutcome } from '../accounting/tally.ts';
import { lanesOf } from './lanes.ts';
import type { BatchParams } from '../params.ts';
import { newMembership } from '../pool/messages.ts';
import { NO_LIMIT, type State } from './state.ts';

const NO_ENDINGS = { all: 0, bad: 0 };
const NOTHING_NOTIFIED = { notified: [], notices: [], notifying: new Set<number>(), nextNotice: 1 };

/** The initial state of a batch that starts at Temporal's time `wallAt`. */
export function begin(params: BatchParams, version: number, wallAt: number): State {
  return {
    params,
    version,
    now: wallAt,
    wallAt,
    startedWallAt: wallAt,
    wakeAt: wallAt,
    lanes: lanesOf(params),
    ...(params.canary === undefined ? {} : { gate: 'closed' as const }),
    pass: params.pass,
    wantedPass: params.pass,
    cancelledPass: 0,
    isLoadingPass: false,
    passCommands: [],
    again: 0,
    rows: new Map(),
    phases: { waiting: 0, sending: 0, running: 0, unconfirmed: 0, ended: 0 },
    bytes: 0,
    ended: [],
    deferred: [],
    unconfirmed: [],
    unpolled: new Set(),
    overdue: new Set(),
    groups: new Map(),
    parts: new Map(),
    polls: new Map(),
    cancels: new Map(),
    cancelsInFlight: new Map(),
    evidence: new Map(),
    isEvidenceLost: false,
    isEvidenceNew: false,
    keeping: 0,
    evidenceFiles: 0,
    log: [],
    loggingNow: 0,
    logDueAt: 0,
    logFiles: 0,
    nextGroup: 1,
    nextPart: 1,
    nextPoll: 1,
    nextCancel: 1,
    holdUntil: 0,
    consecutiveFailures: 0,
    pauses: new Map(),
    rateLimit: NO_LIMIT,
    ...(params.pool === undefined ? {} : { membership: newMembership(wallAt, { version, now: wallAt }) }),
    nextStartAt: 0,
    peakConcurrency: params.concurrency,
    unstored: new Set(),
    abandoned: new Set(),
    reported: new Set(),
    isStopping: false,
    refreshIds: [],
    reconcile: { nextAt: 0, readings: 0 },
    usualRunMs: 0,
    published: { at: 0, summary: '', isStale: true },
    acknowledgements: [],
    pendingCommands: [],
    knownCommands: [],
    endings: NO_ENDINGS,
    resumedAt: NO_ENDINGS,
    tally: tallyOutcome(NO_TALLY, 'succeeded', params.reused ?? 0),
    ledger: NO_LEDGER,
    ...NOTHING_NOTIFIED,
    closing: false,
    isClosed: false,
    finished: false,
  };
}
