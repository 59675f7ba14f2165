// Sums up the load of the lanes by the GPU that rows ask for, for the progress of a batch.

import { GPU_NAME_CHARS, MAX_GPU_NAMES } from '../bounds.ts';
import { type Account, accountsOf, type Lane, nextAccount, unsentIn } from '../state/lanes.ts';

/** The load of one GPU. `gpu` is absent for rows that name none; GPUs beyond the maximum are counted together as `other`. */
export type GpuLoad = {
  readonly gpu?: string;
  readonly outstanding: number;
  /** Rows that wait for their next POST. */
  readonly waiting: number;
  /** Rows that were never sent. */
  readonly unsent: number;
};

export function loadByGpu(lanes: readonly Lane[]): readonly GpuLoad[] {
  const loads = new Map<string | undefined, GpuLoad>();
  const add = ({ gpu }: Account, { outstanding, waiting, unsent }: GpuLoad): void => {
    const short = gpu?.slice(0, GPU_NAME_CHARS);
    const name = loads.has(short) || loads.size < MAX_GPU_NAMES ? short : 'other';
    const load = loads.get(name) ?? { outstanding: 0, waiting: 0, unsent: 0 };
    loads.set(name, {
      ...(name === undefined ? {} : { gpu: name }),
      outstanding: load.outstanding + outstanding,
      waiting: load.waiting + waiting,
      unsent: load.unsent + unsent,
    });
  };
  for (const lane of lanes)
    for (const account of accountsOf(lane))
      add(account, {
        outstanding: account.outstanding,
        waiting: account.waiting.length,
        unsent: account === nextAccount(lane) ? unsentIn(lane) : 0,
      });
  return [...loads.values()];
}
