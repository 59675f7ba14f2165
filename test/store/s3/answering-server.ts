import type { RequestListener } from 'node:http';
import { beforeAll } from 'vitest';
import { takeS3Settings, type S3Settings } from '../../../src/host/settings/s3-settings.ts';
import { serve } from '../../stage/serve.ts';

export const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests' };

/** Serves these answers on loopback during the tests of a file or `describe`. What it returns makes that server the one of S3. */
export function answeringServer(answers: RequestListener): () => S3Settings {
  let url = '';
  beforeAll(async () => {
    const served = await serve(answers);
    ({ url } = served);
    return served.close;
  });
  return () => takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: url });
}
