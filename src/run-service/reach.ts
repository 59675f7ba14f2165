// Decides whether webhooks can arrive. Without RUNSHEET_WEBHOOK_URL the receiver only has a loopback address, with which a remote
// run service would call its own machine.

import { isThisMachine } from '../host/proxies.ts';
import { LOCAL } from './local-address.ts';

/** Whether the run service at `base` can reach our receiver; `url` is the receiver's public address from the settings. */
export function canReachReceiver(base: string, url: string | undefined): boolean {
  return url !== undefined || base === LOCAL || isThisMachine(new URL(base).hostname);
}
