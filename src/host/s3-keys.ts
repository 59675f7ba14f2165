// How this machine reaches S3: by the variables and files that every S3 client reads.

import { problem } from '../errors/error.ts';
import { keepSecret, forgetSecret } from '../errors/redact.ts';
import { resolve } from 'node:path';
import { isWebAddress } from './web-address.ts';

export type S3Settings = {
  readonly keys: KeySource;
  readonly region: string;
  /** The address of an S3 server that is not Amazon's. */
  readonly endpoint: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Those read last, and those read last for the buckets of batches: a program may have connections to several of them. */
let ofThisMachine: S3Settings | undefined;
const ofBuckets = new Map<string, S3Settings>();

export const machineS3 = (bucket = ''): S3Settings =>
  ofBuckets.get(bucket) ?? (ofThisMachine ??= s3Settings({}));

/** Reads them from the environment, for {@link machineS3}. Without a bucket they are those of all buckets. */
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
    // URLs are read without blanks and control characters.
    for (const form of [address, address.replaceAll(/[\s\p{Cc}]/gu, '')]) keepLogin(loginIn(form));
  return {
    keys: keySource(environment),
    region: region || usualRegion || 'us-east-1',
    endpoint: own || common || undefined,
  };
}

/** Before the last @, also if the address is no URL: a password that was not encoded may have any sign. */
const loginIn = (address: string): string =>
  /^\s*(?:[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*([^]*)@/i.exec(address)?.[1] ?? '';

/** A password may also be shown without its user name, and up to a sign that ends the login of a URL. */
function keepLogin(login: string): void {
  const password = login.replace(/^[^:]*:/, '');
  for (const secret of [login, password, ...password.split(/[/\\?#@:\s]/)]) keepSecret(secret);
}

/** Throws E602 if the address of the server is none, or contains more than an address. */
export function checkEndpoint({ endpoint }: Pick<S3Settings, 'endpoint'>): void {
  if (endpoint === undefined) return;
  const hint = 'write it as AWS_ENDPOINT_URL_S3=https://s3.example.com';
  const url = URL.parse(endpoint);
  // The URL as it is read and the text as it is written: each may show a login that the other hides.
  if (endpoint.includes('@') || (url !== null && url.username + url.password !== ''))
    throw problem('E602', {
      what: 'the address of the S3 server contains a user name or password, which would appear in messages and links',
      hint: `${hint}; the keys belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    });
  const what = `the address of the S3 server is ${JSON.stringify(endpoint)}, which`;
  // URLs are read without them, and requests are signed with them.
  if (/[\s\p{Cc}]/u.test(endpoint)) throw problem('E602', { what: `${what} contains blanks`, hint });
  if (url === null || !isWebAddress(endpoint)) throw problem('E602', { what: `${what} is no URL`, hint });
  // Keys are appended to it.
  if (url.search + url.hash !== '') throw problem('E602', { what: `${what} contains ? or #`, hint });
}

/** The URL of an object; without a key, of its bucket. */
export function s3Url(bucket: string, key: string, settings: S3Settings): string {
  return `${hostOf(bucket, settings)}${key.split('/').map(encoded).join('/')}`;
}

/** The value of `x-amz-copy-source`. */
export const copySource = ({ bucket, key }: { readonly bucket: string; readonly key: string }): string =>
  `/${bucket}/${key.split('/').map(encoded).join('/')}`;

/** As the signature has it: `encodeURIComponent` leaves a few characters. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Other servers than Amazon's rarely know host names of buckets, and a certificate does not cover a bucket with a dot. */
function hostOf(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}/`
    : `https://${bucket}.s3.${region}.amazonaws.com/`;
}

// The keys that sign requests to S3: those of the variables, or those that the AWS SDK finds: of a profile, a single sign-on, a web
// identity, or the role of a container or a machine. The SDK renews keys that expire five minutes before they do.

type S3Keys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** The keys that are valid now. It rejects with the reason if there are none. */
type KeySource = () => Promise<S3Keys>;

/** What a user can set if there are no keys. */
export const WAYS_TO_KEYS =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (after aws sso login, if the profile signs in), or run where AWS gives a role to the pod, container or machine; and AWS_REGION or AWS_ENDPOINT_URL_S3 (all of it for the workers as well)';

/** The keys of the variables come first, without the SDK. */
function keySource(environment: Environment): KeySource {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: token,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: container,
  } = environment;
  for (const secret of [secretAccessKey, token, container]) keepSecret(secret ?? '');
  if (!accessKeyId || !secretAccessKey) return foundKeys(environment);
  const keys = { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) };
  return async () => keys;
}

/** A later answer may still quote keys that were replaced. With those that a worker gets in a month, each log line would take long. */
const KEPT_KEYS = 4;
const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;

function foundKeys(environment: Environment): KeySource {
  let provider: ReturnType<typeof openProvider> | undefined;
  const kept: S3Keys[] = [];
  return async () => {
    const keys = await (await (provider ??= openProvider(environment)))();
    if (keys.secretAccessKey === kept.at(-1)?.secretAccessKey) return keys;
    for (const secret of secretsOf(keys)) keepSecret(secret);
    kept.push(keys);
    if (kept.length > KEPT_KEYS) for (const secret of secretsOf(kept.shift())) forgetSecret(secret);
    return keys;
  };
}

const secretsOf = (keys: S3Keys | undefined): readonly string[] =>
  [keys?.secretAccessKey, keys?.sessionToken].filter((secret) => secret !== undefined);

/** Loaded only if S3 is used without keys in the variables. */
async function openProvider(environment: Environment) {
  const [{ defaultProvider }, http, https] = await Promise.all([
    import('@aws-sdk/credential-provider-node'),
    import('node:http'),
    import('node:https'),
  ]);
  const requestHandler = {
    connectionTimeout: CONNECT_MS,
    requestTimeout: ANSWER_MS,
    throwOnRequestTimeout: true,
    httpAgent: new http.Agent({ proxyEnv: environment }),
    httpsAgent: new https.Agent({ proxyEnv: environment }),
  };
  // Files are read again for new keys: another program may have written them.
  return defaultProvider({ clientConfig: { requestHandler }, ignoreCache: true });
}

export type S3Place = {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */ readonly key: string;
};

export const isS3Address = (text: string): boolean => /^s3:/i.test(text);

/** The absolute path of a folder, or an address in S3 in its only spelling. Throws E602; `from` names the setting. */
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

/** undefined if the address names no bucket, or its key would leave a folder. */
export function s3PlaceOf(address: string): S3Place | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)(\/.*)?$/is.exec(address) ?? [];
  const key = path.replaceAll(/^\/+|\/+$/g, '');
  return isBucket(bucket) && (key === '' || isKey(key)) ? { bucket, key } : undefined;
}

/** Anything else could name another host. */
export const isBucket = (bucket: string): boolean => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket);

/** A URL would leave such a folder, and an empty part would be another folder for other programs. */
const isKey = (key: string): boolean =>
  !/\p{Cc}/u.test(key) && key.split('/').every((part) => !['', '.', '..'].includes(part));
