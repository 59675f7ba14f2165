// How this machine reaches S3, by the variables and files that every S3 client reads.

import { problem } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { keySource, type KeySource } from './s3-keys.ts';
import type { Environment } from '../user-folders.ts';
import { isWebAddress } from '../http/web-address.ts';

export type S3Settings = {
  readonly keys: KeySource;
  readonly region: string;
  /** The address of an S3 server other than Amazon's. */
  readonly endpoint: string | undefined;
};

/** The settings that were read last, in general and per bucket, because a program may have connections to several stores. */
let ofThisMachine: S3Settings | undefined;
const ofBuckets = new Map<string, S3Settings>();

export const machineS3 = (bucket = ''): S3Settings =>
  ofBuckets.get(bucket) ?? (ofThisMachine ??= s3Settings({}));

/** Reads the settings for {@link machineS3} from the environment. Without a bucket they apply to all buckets. */
export function takeS3Settings(environment: Environment, bucket?: string): S3Settings {
  ofThisMachine = s3Settings(environment);
  if (bucket === undefined) ofBuckets.clear();
  else ofBuckets.set(bucket, ofThisMachine);
  return ofThisMachine;
}

function s3Settings(environment: Environment): S3Settings {
  const {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: usualRegion,
    AWS_ENDPOINT_URL_S3: own,
    AWS_ENDPOINT_URL: common,
  } = environment;
  for (const address of [own ?? '', common ?? ''])
    // URL parsers ignore blanks and control characters.
    for (const form of [address, address.replaceAll(/[\s\p{Cc}]/gu, '')]) keepLogin(loginIn(form));
  return {
    keys: keySource(environment),
    region: region || usualRegion || 'us-east-1',
    endpoint: own || common || undefined,
  };
}

/** Everything before the last @, even if the address is no URL: an unencoded password may have any character. */
const loginIn = (address: string): string =>
  /^\s*(?:[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*([^]*)@/i.exec(address)?.[1] ?? '';

/** A password may also be shown without its user name, or cut at a character that ends the login of a URL. */
function keepLogin(login: string): void {
  const password = login.replace(/^[^:]*:/, '');
  for (const secret of [login, password, ...password.split(/[/\\?#@:\s]/)]) keepSecret(secret);
}

/** Throws E602 if the server's address is invalid, or contains more than an address. */
export function checkEndpoint({ endpoint }: Pick<S3Settings, 'endpoint'>): void {
  if (endpoint === undefined) return;
  const hint = 'write it as AWS_ENDPOINT_URL_S3=https://s3.example.com';
  const url = URL.parse(endpoint);
  // The parsed URL and the text may each show a login that the other one hides.
  if (endpoint.includes('@') || (url !== null && url.username + url.password !== ''))
    throw problem('E602', {
      what: 'the address of the S3 server contains a user name or password, which would appear in messages and links',
      hint: `${hint}; the keys belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    });
  const what = `the address of the S3 server is ${JSON.stringify(endpoint)}, which`;
  // URL parsers ignore these characters, but signatures cover them.
  if (/[\s\p{Cc}]/u.test(endpoint)) throw problem('E602', { what: `${what} contains blanks`, hint });
  if (url === null || !isWebAddress(endpoint)) throw problem('E602', { what: `${what} is no URL`, hint });
  // Keys are appended to the address.
  if (url.search + url.hash !== '') throw problem('E602', { what: `${what} contains ? or #`, hint });
}

/** The URL of an object; without a key, of its bucket. */
export function s3Url(bucket: string, key: string, settings: S3Settings): string {
  return `${hostOf(bucket, settings)}${key.split('/').map(encoded).join('/')}`;
}

/** The value of `x-amz-copy-source`. */
export const copySource = ({ bucket, key }: { readonly bucket: string; readonly key: string }): string =>
  `/${bucket}/${key.split('/').map(encoded).join('/')}`;

/** Encodes for the signature, including the characters that `encodeURIComponent` leaves alone. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Servers other than Amazon's rarely support bucket host names, and certificates do not cover a bucket with a dot. */
function hostOf(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}/`
    : `https://${bucket}.s3.${region}.amazonaws.com/`;
}
