// --notify: who is notified, and what this machine must know for that.

import type { LimitChange } from '../../batch/params.ts';
import type { Config } from '../../host/config.ts';
import { prepareNotify as prepare, targetsOf } from '../../notices/notify-targets.ts';
import type { LimitFlags } from './limit-flags.ts';

/** Throws E602 for too many. */
export function notifyLimits({ notify }: Pick<LimitFlags, 'notify'>): Pick<LimitChange, 'notify'> {
  if (notify === undefined || notify.length === 0) return {};
  return { notify: targetsOf(notify.filter((one) => one !== 'none')) };
}

/** Throws E602 for a setting that is missing here. */
export const prepareNotify = (config: Config, flags: Pick<LimitFlags, 'notify'>): Promise<void> =>
  prepare(config, notifyLimits(flags), async () => {
    // The Temporal client is half of what a command loads.
    const { temporalFrom } = await import('../../temporal/temporal-address.ts');
    return temporalFrom(config.environment) !== undefined;
  });
