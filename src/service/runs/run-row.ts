// A run in the database.

import type { Status } from '../../run-service/contract/statuses.ts';

export type RunRow = {
  readonly number: number;
  readonly id: string;
  readonly deploymentId: string;
  /** JSON text, with every digit of the request. */
  readonly inputs: string;
  readonly gpu: string;
  readonly webhook: string | null;
  readonly intermediate: 0 | 1;
  readonly status: Status;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** When it got its place, and when it was started there. */
  readonly queuedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly containerId: string | null;
  /** What its executor needs to go on with it; null until it has a place. */
  readonly state: string | null;
  /** The owner of the token that queued it. */
  readonly owner: string;
  /** The faults that the run names itself, separated by spaces. */
  readonly faults: string;
  /** Milliseconds in places that it lost. */
  readonly lostMs: number;
};
