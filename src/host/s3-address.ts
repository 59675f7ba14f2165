// Addresses of places in S3: `s3://bucket/folder`.

import { resolve } from 'node:path';
import { problem } from '../errors/error.ts';

export type S3Place = {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */ readonly key: string;
};

export const isS3Address = (text: string): boolean => /^s3:/i.test(text);

/** The absolute path of a folder, or an S3 address in its only spelling. Throws E602; `from` names the setting. */
export function resolveOut(text: string, from = '--out'): string {
  if (!isS3Address(text)) return resolve(text);
  const place = s3PlaceOf(text);
  if (place !== undefined) return s3Address(place);
  throw problem('E602', {
    what: `${from} is ${JSON.stringify(text)}, which names no place in S3`,
    hint: 'write s3://bucket or s3://bucket/folder; a bucket has lower-case letters, digits, dots and hyphens',
  });
}

export const s3Address = ({ bucket, key }: S3Place): string =>
  key === '' ? `s3://${bucket}` : `s3://${bucket}/${key}`;

/** undefined if the address names no bucket, or if its key would leave a folder. */
export function s3PlaceOf(address: string): S3Place | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)(\/.*)?$/is.exec(address) ?? [];
  const key = path.replaceAll(/^\/+|\/+$/g, '');
  return isBucket(bucket) && (key === '' || isKey(key)) ? { bucket, key } : undefined;
}

/** Anything else could name another host. */
export const isBucket = (bucket: string): boolean => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket);

/** A URL would leave a folder of this name, and other programs treat an empty part as another folder. */
const isKey = (key: string): boolean =>
  !/\p{Cc}/u.test(key) && key.split('/').every((part) => !['', '.', '..'].includes(part));
