// The options of `connect()`. All other settings come from the environment and settings files, as for a command.

import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { problem } from '../errors/error.ts';
import { definedOnly } from '../options/defined-only.ts';
import type { Api } from '../host/api-version.ts';
import { isS3Address, resolveOut, s3PlaceOf } from '../host/s3-address.ts';
import { loadConfigWith, type Config } from '../host/settings/config.ts';
import { LOCAL } from '../host/local-address.ts';
import type { Spoken } from '../service-client/open-services.ts';
import type { TemporalClient } from '../temporal/connect.ts';
import { temporalFrom, type TemporalAddress } from '../temporal/temporal-address.ts';

/** The run service of a program. */
export type ServiceOptions = {
  /** The base address of the API, such as `https://…/api` (default: RUNSHEET_API_URL). */
  readonly url: string;
  /** (default: RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE) */
  readonly apiKey?: string;
  /** The version of the API; `v1` guarantees less (default: RUNSHEET_API, else `v2`). */
  readonly api?: Api;
};

/** Access to S3 buckets. Missing fields come from the settings: `AWS_…`, profiles, roles. */
export type S3Options = {
  /** The address of an S3 server that is not Amazon's. */
  readonly endpoint?: string;
  /** (default: `us-east-1`) */
  readonly region?: string;
  /** Long-term keys, or temporary ones with a `sessionToken`. */
  readonly keys?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** A profile of the AWS configuration, instead of keys. */
  readonly profile?: string;
};

/** The options of `connect()`; all other settings come from the environment. */
export type ConnectOptions = {
  /** Your Temporal client. Its connection and namespace are used; workers run elsewhere: `runsheet worker`. */
  readonly client?: TemporalClient;
  /** The task queue of the workers (default: RUNSHEET_TASK_QUEUE, else `runsheet`). */
  readonly taskQueue?: string;
  /** The folder of the batch folders: a path, a file URL, or an address in S3 such as `s3://bucket/folder` (default: RUNSHEET_OUT, else `batches`). */
  readonly store?: string | URL;
  /** How the bucket of `store` is reached, and sheets in S3. */
  readonly s3?: S3Options;
  /** The run service; `local` is the one on this machine, which costs nothing. */
  readonly service?: ServiceOptions | 'local';
  /** true: embedded servers, even if the settings name a cluster. false: never start servers here. */
  readonly embedded?: boolean;
  /** The folder of the embedded servers' state (default: RUNSHEET_HOME, else `.runsheet`). */
  readonly home?: string;
  /** Gets a line when embedded servers start, are lost, or start again. */
  readonly onNotice?: (text: string) => void;
};

export function configFrom(options: ConnectOptions): Config {
  const { store, home, taskQueue, service, s3 } = options;
  if (options.client !== undefined && options.embedded)
    throw problem('E602', { what: 'connect(): client and embedded exclude each other' });
  // Environment variables also reach the workers of the embedded servers.
  return loadConfigWith({
    ...definedOnly({
      RUNSHEET_OUT: store === undefined ? store : placeOf(store),
      RUNSHEET_HOME: home === undefined ? home : resolve(home),
      RUNSHEET_TASK_QUEUE: taskQueue,
    }),
    ...(service === undefined || service === 'local' ? {} : serviceVariables(service)),
    ...(s3 === undefined ? {} : s3Variables(s3)),
  });
}

const serviceVariables = ({ url, apiKey, api }: ServiceOptions) => ({
  RUNSHEET_API_URL: url,
  ...(apiKey === undefined ? {} : { RUNSHEET_API_KEY: apiKey, RUNSHEET_API_KEY_FILE: undefined }),
  ...(api === undefined ? {} : { RUNSHEET_API: api }),
});

/** Explicit keys or a profile override all keys of the environment. */
const s3Variables = ({ endpoint, region, keys, profile }: S3Options) => ({
  ...definedOnly({ AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: region, AWS_PROFILE: profile }),
  ...(keys === undefined && profile === undefined
    ? {}
    : {
        AWS_ACCESS_KEY_ID: keys?.accessKeyId,
        AWS_SECRET_ACCESS_KEY: keys?.secretAccessKey,
        AWS_SESSION_TOKEN: keys?.sessionToken,
      }),
});

/** The service of new batches. Throws E305 if none is set. */
export function serviceOf({ apiUrl, api }: Config, service: ConnectOptions['service']): Spoken {
  if (service === 'local') return { base: LOCAL, api: 'v2' };
  if (apiUrl === undefined) throw problem('E305', {});
  return { base: apiUrl, api };
}

/** The address in S3, or the absolute path. */
function placeOf(place: string | URL): string {
  if (!isS3Address(String(place))) return pathOf(place);
  return typeof place === 'string' ? place : placeText(place);
}

/** Like {@link placeOf}, for a file. Throws E602 for an S3 address without an object name. */
export function filePlaceOf(file: string | URL): string {
  const place = placeOf(file);
  if (!isS3Address(place)) return place;
  if (s3PlaceOf(place)?.key) return resolveOut(place);
  throw problem('E602', { what: `${place} names no file in S3`, hint: 'write s3://bucket/folder/file' });
}

/** A place, local or in S3, as a URL. */
export const placeUrl = (place: string): URL =>
  isS3Address(place)
    ? new URL(`s3://${place.slice('s3://'.length).split('/').map(encodeURIComponent).join('/')}`)
    : pathToFileURL(place);

/** The path or the address of {@link placeUrl}. */
export const placeText = (url: URL): string =>
  url.protocol === 'file:' ? fileURLToPath(url) : `s3://${url.host}${decodeURIComponent(url.pathname)}`;

/** The path of a file URL, or an absolute path. Throws E602 for another URL. */
export function pathOf(place: string | URL): string {
  if (typeof place === 'string') return resolve(place);
  if (place.protocol === 'file:') return fileURLToPath(place);
  throw problem('E602', { what: `${place.protocol} addresses are not supported`, hint: 'use a file: URL' });
}

export type SessionParams = {
  readonly config: Config;
  readonly local: boolean;
  /** Whether batches continue, or the embedded servers are only read. */
  readonly works: boolean;
  /** Tells the user what the embedded servers are doing. */
  readonly notice: (text: string) => void;
  /** The client of a program, instead of the settings. */
  readonly client?: TemporalClient | undefined;
  /** Use embedded servers even if the settings name a cluster. */
  readonly embedded?: boolean;
};

/** The cluster to connect to; undefined for the embedded servers. */
export function clusterOf({
  config,
  client,
  embedded,
}: Pick<SessionParams, 'config' | 'client' | 'embedded'>): TemporalAddress | undefined {
  if (client === undefined) return embedded ? undefined : temporalFrom(config.environment);
  const { namespace } = client.options;
  return { address: 'the given client', namespace, from: 'connect()', options: {} };
}
