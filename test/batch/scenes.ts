// Builds worlds whose batch is already in a certain phase.

import { CLOCK_SLACK_MS, LEASE_MS } from '../../src/batch/bounds.ts';
import { UNREADABLE_MS } from '../../src/batch/decisions/pause-for-unconfirmed.ts';
import { RESTART_MS } from '../../src/batch/on-event/list-read.ts';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { TIMING } from './params.ts';
import { World } from './world.ts';

/** A world in which a row has succeeded before, so that rows are bought again at once. */
export function proven<W extends World>(world: W): W {
  world.state.trial = undefined;
  return world;
}

/** The same, and all slots are running: row 1 has `run-0`, row 2 `run-1`, and so on. */
export function running(params: Partial<BatchParams> = {}): World {
  const world = proven(new World(params));
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

/** The slots are unconfirmed: their POSTs were lost before the service received them. */
export function unconfirmed(params: Partial<BatchParams> = {}): World {
  const world = new World({ rows: 1, concurrency: 1, ...params });
  while (world.sends.length > 0) world.answer(0, ['dropped']);
  return world;
}

/** How long after the end of its group a POST's last byte may have been written. */
const SENT_BY_MS = LEASE_MS + CLOCK_SLACK_MS;

/** From this age on, a complete list without the run counts as proof of absence, even without a control run. */
export const PROOF_MS = SENT_BY_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs;

/** From this age on, an unconfirmed attempt is stuck. */
export const STUCK_MS = Math.max(PROOF_MS + 2 * TIMING.listGapMs, SENT_BY_MS + RESTART_MS);

/** From this age on, the user is asked about a stuck attempt although no list could be read. */
export const ASKED_MS = STUCK_MS + UNREADABLE_MS;

/** A run of row 1. */
export const runOfFirst = (runId: string, attempt = 1): AttemptRun => ({ place: 1, attempt, runId });

/** Reads complete lists whenever the batch requests them, until no attempt is unconfirmed. */
export function readUntilResolved(world: World): void {
  while (world.state.phases.unconfirmed > 0) {
    world.read();
    world.pass(TIMING.listGapMs);
  }
}
