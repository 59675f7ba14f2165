// How this machine reaches S3: by the variables that every S3 client reads.

import { keepSecret } from '../errors/redact.ts';

export type S3Settings = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** The address of an S3 server that is not Amazon's. */
  readonly endpoint: string | undefined;
};

/** undefined without keys. */
export function s3Settings(
  environment: Readonly<Record<string, string | undefined>>,
): S3Settings | undefined {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: usualRegion,
    AWS_ENDPOINT_URL_S3: own,
    AWS_ENDPOINT_URL: common,
  } = environment;
  for (const secret of [secretAccessKey, sessionToken]) keepSecret(secret ?? '');
  if (!accessKeyId || !secretAccessKey) return undefined;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken || undefined,
    region: region || usualRegion || 'us-east-1',
    endpoint: own || common || undefined,
  };
}
