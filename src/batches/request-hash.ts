// Hashes the request of a row, to find rows that need the same run.

import { hash } from 'node:crypto';
import { parseExactly } from '../host/formats/exact-json.ts';
import { isWebAddress } from '../host/http/web-address.ts';
import { comparable } from '../service-client/contract/file-inputs.ts';
import type { SheetRow } from '../sheet/pages.ts';

/** Rows with the same hash request the same run, whatever their keys and batches. */
export const requestHash = (inputs: SheetRow['inputs'], gpu: string | undefined): string =>
  hash('sha256', `${gpu ?? ''}\n${comparable(JSON.stringify(inputs))}`, 'hex').slice(0, 32);

/** A row without the addresses of its files. */
export type AddressedRow = {
  /** Equal for rows that differ at most in these addresses; none for a row without any. */
  readonly hashes: readonly string[];
  /** The inputs that have them. */
  readonly inputs: readonly string[];
};

/**
 * A row without the addresses of its files, which an export makes anew (Airtable) or which end in a version (Shopify). `key`: its name
 * in a key column; without one, rows of equal prompts are one product only if their files stand in the same place.
 */
export function withoutAddresses(
  inputs: SheetRow['inputs'],
  gpu: string | undefined,
  key: string | undefined,
): AddressedRow {
  const json = comparable(JSON.stringify(inputs));
  if (!/"https?:/i.test(json)) return { hashes: [], inputs: [] };
  const plain = parseExactly(json) as SheetRow['inputs'];
  const addressed = Object.keys(plain).filter((name) => isWebAddress(String(plain[name])));
  if (addressed.length === 0) return { hashes: [], inputs: [] };
  const hashOf = (by: string, shownAs: (address: string) => string): string => {
    const without = addressed.map((name) => [name, shownAs(String(plain[name]))] as const);
    return requestHash({ ...plain, ...Object.fromEntries(without) }, JSON.stringify([by, gpu ?? '']));
  };
  const hashes = [hashOf('place', (address) => address.replace(/[?#].*$/s, ''))];
  if (key !== undefined) hashes.push(hashOf(`key ${key}`, () => ''));
  return { hashes, inputs: addressed };
}
