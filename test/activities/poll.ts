// Runs a poll attempt by attempt: each test defines the service; the times are those of Temporal's attempts.

import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pollRuns, type StoredMemory } from '../../activities/poll-runs.ts';
import type { OverdueRun, RunCompletion } from '../../src/batch/events.ts';
import type { PolledRun } from '../../src/batch/commands.ts';
import { depsOf, REF, type DepsOverrides } from './deps.ts';

type ServiceReadSignal = { readonly reason?: string };

/** A poll of some runs, attempt by attempt. */
export class Poll {
  readonly completions: RunCompletion[] = [];
  readonly overdue: OverdueRun[] = [];
  readonly read: ServiceReadSignal[] = [];
  /** The heartbeat details of the last attempt. */
  memory: StoredMemory | undefined;
  nowMs = Date.parse('2026-11-22T10:00:00Z');
  runs: readonly PolledRun[];
  isGone = false;
  /** The delay that the last attempt asked for. */
  delayMs: ApplicationFailure['nextRetryDelay'];

  constructor(count = 3, ageMs = 0) {
    this.runs = Array.from({ length: count }, (_, at) => ({
      place: at + 1,
      attempt: 1,
      runId: `r${at + 1}`,
      ageMs,
    }));
  }

  /** Runs one attempt; returns whether the poll continues. */
  async look(
    service: DepsOverrides['service'],
    overrides: DepsOverrides = {},
    isUnreadable = false,
    attempt = 1,
  ): Promise<boolean> {
    const deliver = async () => (this.isGone ? 'gone' : 'taken');
    const signals = {
      runsCompleted: (_: unknown, __: string, some: readonly RunCompletion[]) => {
        if (!this.isGone) this.completions.push(...some);
        return deliver();
      },
      runsOverdue: (_: unknown, some: readonly OverdueRun[]) => (this.overdue.push(...some), deliver()),
      serviceRead: (_: unknown, read: ServiceReadSignal) => (this.read.push(read), deliver()),
    };
    const completion = {
      heartbeat: async (_: Uint8Array, memory: StoredMemory) =>
        void (this.memory = JSON.parse(JSON.stringify(memory)) as StoredMemory),
    };
    const deps = depsOf({
      ...overrides,
      ...(service && { service }),
      signals,
      completion,
    } as unknown as DepsOverrides);
    const environment = new MockActivityEnvironment({
      attempt,
      heartbeatDetails: this.memory,
      currentAttemptScheduledTimestampMs: this.nowMs,
    });
    const input = { ...REF, runs: this.runs, intervalMs: 2_000, isUnreadable };
    try {
      await environment.run(() => pollRuns(deps, input));
      return false;
    } catch (error) {
      const { type, category, nextRetryDelay } = error as ApplicationFailure;
      if (type !== 'PollAgain' || category !== 'BENIGN') throw error;
      this.delayMs = nextRetryDelay;
      return true;
    }
  }

  /** Polls every 20 s for this long. */
  async lookFor(ms: number, service: DepsOverrides['service'], overrides: DepsOverrides = {}): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20_000) {
      this.nowMs += 20_000;
      await this.look(service, overrides);
    }
  }

  get ended(): readonly string[] {
    return this.completions.map(({ runId }) => runId);
  }
}
