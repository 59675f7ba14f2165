// A hosted model as people name it: `fal:fal-ai/flux/dev`, with its price before it: `0.025/run=fal:fal-ai/flux/dev`, or by
// the address of its Cog container: `cog:http://127.0.0.1:5000`.

import { isWebAddress, withScheme } from '../http/web-address.ts';
import { list, nearest, problem } from '../../errors/error.ts';
import { isModelHost, MODEL_HOSTS, type ModelHost } from '../../options/facts/server-kind.ts';

/** The price of a run, or of a second of it, in US dollars. */
export type StatedPrice = { readonly per: 'run' | 'second'; readonly usd: number };

export type NamedModel = {
  readonly vendor: ModelHost;
  /** The name on its page at the vendor: `owner/name`; the address of a Cog container. */
  readonly model: string;
  readonly price?: StatedPrice;
};

/** The flag or field that has the text, and how it is written with a name. */
type NamedPlace = { readonly place: string; readonly write: (name: string) => string };

/** Throws E602. */
export function namedModel(text: string, { place, write }: NamedPlace): NamedModel {
  const [, before, vendor = '', model = ''] = /^(?:([^=:]*)=)?([a-z-]+):(.+)$/is.exec(text) ?? [];
  if (vendor === 'cog') {
    const address = withScheme(model);
    if (before === undefined && isWebAddress(address)) return { vendor, model: address };
    throw problem('E602', {
      what: `${place} ${text} is not the address of a Cog container alone, which has no price`,
      hint: write(`cog:${isWebAddress(address) ? address : 'http://127.0.0.1:5000'}`),
    });
  }
  if (isModelHost(vendor))
    return { vendor, model, ...(before !== undefined && { price: priceIn(before, place) }) };
  const near = vendor === '' ? undefined : nearest(vendor, MODEL_HOSTS);
  throw problem('E602', {
    what: `${place} ${text} names no vendor that runsheet knows`,
    hint: `they are ${list(MODEL_HOSTS)}: ${write(near === undefined ? 'replicate:owner/name' : `${near}:${model}`)}`,
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
