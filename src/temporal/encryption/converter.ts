// The data converters of all our clients and workers, so that nothing reaches Temporal unconverted. The SDK loads the other
// converters from files.

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { clientEncryptionWith } from './codec.ts';
import type { PayloadKeys } from './payload-keys.ts';

/** The converter of clients, which need the interceptors `labelling` as well. */
export const clientConverter = (keys: PayloadKeys): DataConverter => ({
  ...failuresFor(keys),
  payloadConverterPath: pathOf('labelled'),
  payloadCodecs: [clientEncryptionWith(keys)],
});

export function failuresFor({ keys }: PayloadKeys): DataConverter {
  return { failureConverterPath: pathOf(keys.length > 0 ? 'encrypted-failures' : 'failures') };
}

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, import.meta.url));
