// A batch at the maximum concurrency in which every text has its maximum length. Its store and run lists respond only
// if a test makes them.

import { sendFrom } from './send-from.ts';
import {
  rememberAbandoned,
  keepEvidence,
  reportDuplicate,
  MAX_ABANDONED,
  MAX_EVIDENCE,
  MAX_REPORTED,
} from '../../src/batch/accounting/duplicates.ts';
import { tallyUse } from '../../src/batch/accounting/tally.ts';
import { GPU_NAME_CHARS, MAX_GPU_NAMES, mostConcurrency } from '../../src/batch/bounds.ts';
import { MAX_RETRIES } from '../../src/options/bounds-and-defaults.ts';
import { type Event, type PostResult, type RunCompletion, note, MAX_LOG } from '../../src/batch/events.ts';
import { acknowledge, MAX_ACKNOWLEDGED } from '../../src/batch/on-event/user-command.ts';
import type { UnconfirmedRule } from '../../src/batch/params.ts';
import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import type { RunningRow } from '../../src/batch/state/row-state.ts';
import { snapshot } from '../../src/batch/state/snapshot.ts';
import { begin, type State } from '../../src/batch/state/state.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { step } from '../../src/batch/step.ts';
import { paramsOf } from './params.ts';

const ROWS = 10_000_000;
/** Each character takes two bytes in JSON. */
const LONG = '"'.repeat(500);

type Result = 'accepted' | 'rejected' | 'unconfirmed';

export class Crowd {
  readonly state: State;
  #wallAt = 1_800_000_000_000;

  /** `rowsLeft`: how many rows are still unsent at the start. */
  constructor(retries: number, rowsLeft: number, rule: UnconfirmedRule['rule'] = 'unknown') {
    const concurrency = mostConcurrency(retries);
    const unconfirmed = { rule, afterMs: 0 };
    this.state = begin(
      paramsOf({ rows: ROWS, concurrency, retries, lists: false, unconfirmed }),
      1,
      this.#wallAt,
    );
    sendFrom(this.state, ROWS - rowsLeft + 1);
    this.apply({ type: 'started' });
  }

  apply(...events: readonly Event[]): void {
    step(this.state, events, this.#wallAt);
  }

  pass(ms: number): void {
    const end = this.#wallAt + ms;
    while (this.#wallAt < end) {
      this.#wallAt = Math.min(end, this.#wallAt + Math.max(1, this.state.wakeAt - this.state.now));
      this.apply({ type: 'woke' });
    }
  }

  get runs(): readonly RunningRow[] {
    return [...this.state.rows.values()].filter((row) => row.phase === 'running');
  }

  /** Ends all groups in flight with the given result for each row. */
  answer(resultOf: (row: number) => Result): void {
    for (const [group, { attempts }] of this.state.groups) {
      const results = attempts.map((attempt): PostResult => {
        const result = resultOf(attempt.place);
        if (result === 'accepted') return { ...attempt, result, runId: crypto.randomUUID() };
        return { ...attempt, result, reason: LONG };
      });
      this.apply({ type: 'groupEnded', group, results, rest: 'unconfirmed' });
    }
  }

  answerAll(result: Result): void {
    while (this.state.groups.size > 0) this.answer(() => result);
  }

  failAll(): void {
    const completions = this.runs.map(({ place, attempt, runId }): RunCompletion => ({
      place,
      attempt,
      runId,
      outcome: 'failed',
      reason: LONG,
    }));
    this.apply({ type: 'runsCompleted', by: 'webhook', completions });
  }

  delayAll(): void {
    const runs = this.runs.map(({ place, attempt, runId }) => ({ place, attempt, runId, reason: LONG }));
    this.apply({ type: 'runsOverdue', runs });
  }

  /** Reads empty lists until the user's rule or a proof has resolved every attempt. */
  resolveAll(answer: 'complete' | 'none'): void {
    while (this.state.phases.unconfirmed > 0) {
      this.apply({ type: 'listRead', reading: { answer, found: [], hasControl: false } });
      this.pass(1_000);
    }
  }

  /** Fills everything except rows and parts to its limit. */
  remember(): void {
    const { state } = this;
    for (const kind of PAUSE_KINDS) pause(state, kind, LONG.slice(0, 150));
    for (let entry = 0; entry < MAX_LOG; entry += 1)
      note(state, { event: 'scaled', by: LONG, reason: LONG, note: LONG.slice(0, 100) });
    const run = (at: number) => ({ place: ROWS - at, attempt: MAX_RETRIES, runId: crypto.randomUUID() });
    for (let at = 0; at < MAX_REPORTED; at += 1) reportDuplicate(state, run(at), false);
    for (let at = 0; at < MAX_EVIDENCE; at += 1) keepEvidence(state, run(at));
    for (let at = 0; at < MAX_ABANDONED; at += 1) rememberAbandoned(state, run(at));
    for (let at = 0; at < MAX_ACKNOWLEDGED; at += 1) acknowledge(state, crypto.randomUUID());
    for (let at = 0; at < 2 * MAX_GPU_NAMES; at += 1) {
      const name = `${at}`.padEnd(GPU_NAME_CHARS, 'x');
      state.tally = tallyUse(state.tally, name, { runs: 1e6, seconds: 1e6 / 3, costUsd: 1e6 / 3 });
    }
  }

  /** The size of the snapshot in bytes. */
  get encoded(): number {
    return Buffer.byteLength(JSON.stringify(snapshot(this.state)));
  }
}
