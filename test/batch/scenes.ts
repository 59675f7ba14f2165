// Batches in the middle of their work.

import { CLOCK_SLACK_MS, LEASE_MS } from '../../src/batch/bounds.ts';
import type { AttemptRun } from '../../src/batch/attempt.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { TIMING } from './params.ts';
import { World } from './world.ts';

/** Every attempt that could be sent was accepted: row 1 has `run-0`, row 2 `run-1`, and so on. */
export function running(params: Partial<BatchParams> = {}): World {
  const world = new World(params);
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

/** The POSTs of all slots were lost before the service saw them. */
export function unconfirmed(params: Partial<BatchParams> = {}): World {
  const world = new World({ rows: 1, concurrency: 1, ...params });
  while (world.sends.length > 0) world.answer(0, ['dropped']);
  return world;
}

/** When the last byte of a POST may have been written, after its group ended. */
const SENT_BY_MS = LEASE_MS + CLOCK_SLACK_MS;

/** From then on a complete list without its run speaks for its absence, also without a control run. */
export const PROOF_MS = SENT_BY_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs;

/** From then on no proof is expected any more. */
export const STUCK_MS = PROOF_MS + 2 * TIMING.listGapMs;

/** A run of row 1. */
export const runOfFirst = (runId: string, attempt = 1): AttemptRun => ({ row: 1, attempt, runId });

/** Reads complete lists, as often as the batch asks for them, until nothing is unconfirmed any more. */
export function readUntilResolved(world: World): void {
  while (world.state.phases.unconfirmed > 0) {
    world.read();
    world.pass(TIMING.listGapMs);
  }
}
