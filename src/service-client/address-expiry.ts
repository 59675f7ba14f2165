// When a signed address expires, by the parameters that common file stores put into their signatures.

import { markedIn } from './contract/file-inputs.ts';

const START = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Milliseconds since 1970; undefined if the address shows no expiry. */
export function addressExpiryMs(address: string): number | undefined {
  const query = new Map(
    [...(URL.parse(address)?.searchParams ?? [])].map(([name, value]) => [name.toLowerCase(), value]),
  );
  for (const signer of ['x-amz', 'x-goog']) {
    const start = Date.parse((query.get(`${signer}-date`) ?? '').replace(START, '$1-$2-$3T$4:$5:$6Z'));
    const end = start + Number(query.get(`${signer}-expires`) ?? Number.NaN) * 1000;
    if (Number.isFinite(end)) return end;
  }
  const azure = Date.parse(query.get('se') ?? '');
  if (Number.isFinite(azure)) return azure;
  const end = Number(query.get('expires') || Number.NaN);
  if (!Number.isFinite(end)) return undefined;
  // Some count seconds since 1970, others milliseconds.
  return end < MAX_SECONDS ? end * 1000 : end;
}

const MAX_SECONDS = 100_000_000_000;

/** The first input whose address has expired. */
export const expiredFile = (inputs: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(inputs).find(([, value]) =>
    markedIn(value).some((address) => (addressExpiryMs(address) ?? Number.POSITIVE_INFINITY) < Date.now()),
  )?.[0];
