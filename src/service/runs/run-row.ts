// A run in the database.

import type { Status } from '../../run-service/contract/statuses.ts';
import type { RunPlan } from './planned-result.ts';

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
  readonly endedMs: number | null;
  readonly containerId: string | null;
  readonly outputs: number;
  /** The owner of the token that queued it. */
  readonly owner: string;
  /** The faults that the run names itself, separated by spaces. */
  readonly faults: string;
  /** Milliseconds in containers that it lost. */
  readonly lostMs: number;
} & { readonly [Field in keyof RunPlan]: RunPlan[Field] | null };
