// The path of a vendor's webhook about a run: /told/<vendor>/<run>/<try>/<32 hex of a MAC>. The receiver is reached there
// from outside, and forwards the webhook to the local run service.

export const VENDOR_WEBHOOKS = '/told';

const PATH = /^\/told\/([a-z]{1,20})\/([\w-]{1,64})\/(\d{1,6})\/([0-9a-f]{32})$/;

/**
 * Upper bound for a vendor's webhook body. The body may repeat the result; runsheet ignores it and reads the result from
 * the vendor.
 */
export const MAX_VENDOR_WEBHOOK_BYTES = 1 << 20;

/** Does not check the MAC. */
export function readVendorWebhookPath(path: string) {
  const [, vendor, id, tries, mac] = PATH.exec(path) ?? [];
  if (vendor === undefined || id === undefined || mac === undefined) return undefined;
  return { vendor, id, tries: Number(tries), mac };
}
