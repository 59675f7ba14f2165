// The address at which a vendor tells about a run whose answer may be lost: /told/<vendor>/<run>/<try>/<32 hex of
// HMAC-SHA256>. Only the vendor that got the request knows it, and it proves no more than that this request arrived.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isModelHost, type ModelHost } from '../../../../options/server-kind.ts';
import { readToldPath, TOLD } from '../../../../service-client/contract/told-path.ts';

/** A try of a run at a vendor. */
export type ToldRun = { readonly vendor: ModelHost; readonly id: string; readonly tries: number };

/** `url`: the public address of the receiver. */
export type DoorOptions = { readonly url: string; readonly secret: string };

export type Door = ReturnType<typeof openDoor>;

export function openDoor({ url, secret }: DoorOptions) {
  const macOf = ({ vendor, id, tries }: ToldRun): string =>
    createHmac('sha256', secret).update(`told|1|${vendor}|${id}|${tries}`).digest('hex').slice(0, 32);
  return {
    addressOf: (run: ToldRun): string =>
      `${url.replace(/\/+$/, '')}${TOLD}/${run.vendor}/${run.id}/${run.tries}/${macOf(run)}`,
    /** The run of a genuine address. */
    runAt(path: string): ToldRun | undefined {
      const { vendor = '', id = '', tries = 0, mac = '' } = readToldPath(path) ?? {};
      if (!isModelHost(vendor)) return undefined;
      const run = { vendor, id, tries };
      return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(run))) ? run : undefined;
    },
  };
}
