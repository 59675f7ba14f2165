// The data converters of all our clients and workers, so that nothing reaches Temporal unconverted. The SDK loads the failure
// converter from a file.

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { encryptionWith, workerEncryptionWith } from './codec.ts';
import type { PayloadKeys } from './payload-keys.ts';

export const clientConverter = (keys: PayloadKeys): DataConverter => ({
  ...failuresFor(keys),
  payloadCodecs: [encryptionWith(keys)],
});

/** See {@link workerEncryptionWith}. */
export const workerConverter = (keys: PayloadKeys): DataConverter => ({
  ...failuresFor(keys),
  payloadCodecs: [workerEncryptionWith(keys)],
});

function failuresFor({ keys }: PayloadKeys): DataConverter {
  const name = keys.length > 0 ? 'encrypted-failures' : 'failures';
  const file = new URL(`${name}${extname(import.meta.url)}`, import.meta.url);
  return { failureConverterPath: fileURLToPath(file) };
}
