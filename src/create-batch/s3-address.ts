// s3://bucket/key as an https URL that is signed for some minutes.

import { problem } from '../errors/error.ts';
import type { S3Settings } from '../host/s3-settings.ts';

const VALID_SECONDS = 900;

/** Throws E106 for an address without a key, and E602 without keys of this machine. `at`: the time of the signature. */
export async function signedS3Url(
  address: string,
  settings: S3Settings | undefined,
  at: Date = new Date(),
): Promise<URL> {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(address) ?? [];
  if (bucket === undefined || key === undefined || !isBucket(bucket) || !isKey(key))
    throw problem('E106', {
      path: address,
      why: 'its address names no file of a bucket',
      hint: 'write it as s3://bucket/folder/sheet.csv; a bucket has lower-case letters, digits, dots and hyphens',
    });
  if (settings === undefined)
    throw problem('E602', {
      what: `${address} needs the keys of S3`,
      hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION or AWS_ENDPOINT_URL_S3 (in the environment of the workers as well)',
    });
  const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
  // Loaded only for sheets in S3.
  const { AwsV4Signer } = await import('aws4fetch');
  const url = new URL(`${hostOf(bucket, settings)}${key.split('/').map(encodeURIComponent).join('/')}`);
  url.searchParams.set('X-Amz-Expires', String(VALID_SECONDS));
  const datetime = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  const signer = new AwsV4Signer({
    accessKeyId,
    secretAccessKey,
    region,
    ...(sessionToken !== undefined && { sessionToken }),
    url: url.href,
    service: 's3',
    signQuery: true,
    datetime,
  });
  return (await signer.sign()).url;
}

/** Anything else could name another host. */
const isBucket = (bucket: string): boolean => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket);

/** A URL would leave such a folder. */
const isKey = (key: string): boolean => key.split('/').every((part) => part !== '.' && part !== '..');

/** The host whose network may be private: that of the settings. */
export const s3Network = ({ endpoint }: S3Settings): string => endpoint ?? 'https://s3.amazonaws.com';

/** Other servers than Amazon's rarely know host names of buckets, and a certificate does not cover a bucket with a dot. */
function hostOf(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}/`
    : `https://${bucket}.s3.${region}.amazonaws.com/`;
}
