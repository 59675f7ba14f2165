// Hashes the request of a row, to find rows that need the same run.

import { hash } from 'node:crypto';
import { comparable } from '../service-client/contract/file-inputs.ts';
import type { SheetRow } from '../sheet/pages.ts';

/** Rows with the same hash request the same run, whatever their keys and batches. */
export const requestHash = (inputs: SheetRow['inputs'], gpu: string | undefined): string =>
  hash('sha256', `${gpu ?? ''}\n${comparable(JSON.stringify(inputs))}`, 'hex').slice(0, 32);
