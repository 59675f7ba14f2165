// s3://bucket/key as an https URL that is signed for some minutes.

import { errorMessage, problem } from '../errors/error.ts';
import { shownAddress } from '../errors/redact.ts';
import { isBucket } from '../host/batches-address.ts';
import { machineS3, WAYS_TO_KEYS } from '../host/s3-keys.ts';

const VALID_SECONDS = 900;

/** Throws E106 for an address without a key, and E602 without keys of this machine. `at`: the time of the signature. */
export async function signedS3Url(address: string, at: Date = new Date()): Promise<URL> {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(address) ?? [];
  if (bucket === undefined || key === undefined || !isBucket(bucket) || !isKey(key))
    throw problem('E106', {
      path: shownAddress(address),
      why: 'its address names no file of a bucket',
      hint: 'write it as s3://bucket/folder/sheet.csv; a bucket has lower-case letters, digits, dots and hyphens',
    });
  const settings = machineS3();
  await settings.keys().catch((error: unknown) => {
    const what = `${shownAddress(address)} needs the keys of S3: ${errorMessage(error)}`;
    throw problem('E602', { what, hint: WAYS_TO_KEYS }, { cause: error });
  });
  // Loaded only for sheets in S3.
  const { S3Client } = await import('../store/s3/s3-client.ts');
  return new S3Client({ bucket, key }, settings).link(key, VALID_SECONDS, at);
}

/** A URL would leave such a folder. */
const isKey = (key: string): boolean => key.split('/').every((part) => part !== '.' && part !== '..');

/** The host whose network may be private: that of the settings. */
export const s3Network = (): string => machineS3().endpoint ?? 'https://s3.amazonaws.com';
