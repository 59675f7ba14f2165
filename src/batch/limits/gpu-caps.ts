// Limits how many rows of one GPU are outstanding, if the user set such a limit or wants it to be found. It counts the rows of all
// lanes on this GPU; rows on other GPUs are never held back.

import { capOf } from './adaptive-cap.ts';
import { accountsOf, type Account } from '../state/lanes.ts';
import type { State } from '../state/state.ts';

type Accounts = Pick<State, 'params' | 'lanes'>;

/** Whether more rows of a GPU are outstanding than a limit that was lowered allows. */
export const isAboveGpuCap = (state: Accounts): boolean =>
  Object.entries(state.params.gpuConcurrency ?? {}).some(([gpu, cap]) => outstandingOn(state, gpu) > cap);

export const outstandingOn = ({ lanes }: Pick<State, 'lanes'>, gpu: string): number =>
  lanes
    .flatMap(accountsOf)
    .reduce((sum, account) => sum + (account.gpu === gpu ? account.outstanding : 0), 0);

/** How many more rows may be sent on the GPU; infinite without a limit. */
export function freeOn(state: Accounts, account: Pick<Account, 'gpu' | 'outstanding' | 'adaptive'>): number {
  const { gpu = '' } = account;
  const cap = state.params.gpuConcurrency?.[gpu];
  const free = cap === undefined ? Number.POSITIVE_INFINITY : cap - outstandingOn(state, gpu);
  return Math.max(0, Math.min(free, capOf(state, account) - account.outstanding));
}
