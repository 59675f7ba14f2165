// Checks settings before a batch gets them, new or running: what this machine must know, and what could never be met.

import type { Config } from '../host/config.ts';
import { prepareNotify } from '../notices/notify-targets.ts';
import type { LimitChange } from '../options/limits.ts';
import { refuseUnbounded } from '../store/attempt-cost.ts';
import type { BatchFile } from '../store/batch-file.ts';

export type Where = {
  readonly config: Config;
  /** Whether workers of a cluster have settings of their own. */
  readonly isCluster: () => boolean | Promise<boolean>;
  readonly file?: BatchFile;
  /** Called only if a pool is given. */
  readonly pools?: () => Promise<{ show(pool: string): Promise<unknown> }>;
};

type Checked = Pick<LimitChange, 'pool' | 'notify'> & Partial<Pick<LimitChange, 'maxCostNano'>>;

/** Throws E312 for a budget without a bound, E540 for a pool that does not exist, because a batch would wait in it for ever, and E602. */
export async function checkSettings(
  change: Checked,
  { config, isCluster, file, pools }: Where,
): Promise<void> {
  if (file !== undefined) refuseUnbounded(file, change.maxCostNano);
  await prepareNotify(config, change, isCluster);
  const { pool } = change;
  if (pools !== undefined && pool !== undefined && pool !== 'none') await (await pools()).show(pool);
}
