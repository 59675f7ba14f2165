// A hosted model as people name it: `fal:fal-ai/flux/dev`, or with its price before it: `0.025/run=fal:fal-ai/flux/dev`.

import { list, nearest, problem } from '../errors/error.ts';
import { isVendor, VENDORS, type Vendor } from '../options/server-kind.ts';

type StatedPrice = { readonly per: 'run' | 'second'; readonly usd: number };

export type NamedModel = {
  readonly vendor: Vendor;
  /** The name on its page at the vendor: `owner/name`. */
  readonly model: string;
  readonly price?: StatedPrice;
};

/** The flag or field that has the text, and how it is written with a name. */
type NamedPlace = { readonly place: string; readonly write: (name: string) => string };

/** Throws E602. */
export function namedModel(text: string, { place, write }: NamedPlace): NamedModel {
  const [, before, vendor = '', model = ''] = /^(?:([^=:]*)=)?([a-z-]+):(.+)$/is.exec(text) ?? [];
  if (isVendor(vendor))
    return { vendor, model, ...(before !== undefined && { price: priceIn(before, place) }) };
  const near = vendor === '' ? undefined : nearest(vendor, VENDORS);
  throw problem('E602', {
    what: `${place} ${text} names no vendor that runsheet knows`,
    hint: `they are ${list(VENDORS)}: ${write(near === undefined ? 'replicate:owner/name' : `${near}:${model}`)}`,
  });
}

const MAX_PRICE = 1_000;

/** `0.025/run`, `0.0003/s` */
function priceIn(text: string, place: string): StatedPrice {
  const [, amount = '', unit] = /^\$?(\d*\.?\d+)\/(run|s)$/.exec(text) ?? [];
  const usd = Number(amount);
  if (amount !== '' && usd >= 1e-9 && usd <= MAX_PRICE)
    return { per: unit === 'run' ? 'run' : 'second', usd };
  throw problem('E602', {
    what: `${place}: "${text}" is no price above 0`,
    hint: 'US dollars of a run or of a second: 0.025/run=fal:fal-ai/flux/dev, or 0.0003/s=replicate:owner/name',
  });
}
