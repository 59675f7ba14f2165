// The keys that sign requests to S3: those of the variables, or those that the AWS SDK finds in a profile, a single sign-on, a web
// identity, or the role of a container or a machine. The SDK renews keys five minutes before they expire.

import { forgetSecret, keepSecret } from '../../errors/redact.ts';
import type { Environment } from '../user-folders.ts';

type S3Keys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** Resolves to the keys that are valid now. Rejects with the reason if there are none. */
export type KeySource = () => Promise<S3Keys>;

/** The ways in which a user can provide keys. */
export const WAYS_TO_KEYS =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (after aws sso login, if the profile signs in), or run where AWS gives a role to the pod, container or machine; and AWS_REGION or AWS_ENDPOINT_URL_S3 (all of it for the workers as well)';

/** Keys from the variables come first, without the SDK. */
export function keySource(environment: Environment): KeySource {
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

/** A late answer may quote keys that were replaced. Keeping all keys that a worker gets in a month would make each log line slow. */
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
  // Files are read again for new keys, because another program may have written them.
  return defaultProvider({ clientConfig: { requestHandler }, ignoreCache: true });
}
