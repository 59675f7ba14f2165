// A run as the database keeps it.

import type { Status } from '../run-service/contract/run.ts';
import type { RunPlan } from './planned-result.ts';

export type RunRow = {
  readonly number: number;
  readonly id: string;
  readonly deploymentId: string;
  /** JSON text, with every digit that was sent. */
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
  /** Whose token queued it. */
  readonly owner: string;
  /** The faults that it named itself, with spaces between. */
  readonly faults: string;
  /** Milliseconds in containers that were taken away from it. */
  readonly lostMs: number;
} & { readonly [Field in keyof RunPlan]: RunPlan[Field] | null };
