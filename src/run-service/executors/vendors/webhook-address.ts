// The address that a vendor calls about a run whose answer may be lost: /told/<vendor>/<run>/<try>/<32 hex of
// HMAC-SHA256>. Only the vendor that got the request knows it, and it proves no more than that this request arrived.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isModelHost, type ModelHost } from '../../../options/facts/server-kind.ts';
import {
  readVendorWebhookPath,
  VENDOR_WEBHOOKS,
} from '../../../service-client/contract/vendor-webhook-path.ts';

/** A try of a run at a vendor. */
export type WebhookRun = { readonly vendor: ModelHost; readonly id: string; readonly tries: number };

/** `url`: the public address of the receiver. */
export type WebhookAddressOptions = { readonly url: string; readonly secret: string };

export type WebhookAddresses = ReturnType<typeof openWebhookAddresses>;

export function openWebhookAddresses({ url, secret }: WebhookAddressOptions) {
  const macOf = ({ vendor, id, tries }: WebhookRun): string =>
    createHmac('sha256', secret).update(`told|1|${vendor}|${id}|${tries}`).digest('hex').slice(0, 32);
  return {
    addressOf: (run: WebhookRun): string =>
      `${url.replace(/\/+$/, '')}${VENDOR_WEBHOOKS}/${run.vendor}/${run.id}/${run.tries}/${macOf(run)}`,
    /** The run of a genuine address. */
    runAt(path: string): WebhookRun | undefined {
      const { vendor = '', id = '', tries = 0, mac = '' } = readVendorWebhookPath(path) ?? {};
      if (!isModelHost(vendor)) return undefined;
      const run = { vendor, id, tries };
      return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(run))) ? run : undefined;
    },
  };
}
