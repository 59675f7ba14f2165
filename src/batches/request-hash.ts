// When two rows ask for the same run.

import { hash } from 'node:crypto';
import { comparable } from '../service-client/contract/file-inputs.ts';
import type { SheetRow } from '../sheet/pages.ts';

/** What a row asks of the run service: rows with the same hash are the same, whatever their keys and their batches are. */
export const requestHash = (inputs: SheetRow['inputs'], gpu: string | undefined): string =>
  hash('sha256', `${gpu ?? ''}\n${comparable(JSON.stringify(inputs))}`, 'hex').slice(0, 32);
