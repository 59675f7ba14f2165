import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { takeS3Settings, type S3Settings } from '../../../src/host/s3-keys.ts';
import { listen } from '../../stage/free-port.ts';

export const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests' };

/** Serves these answers on loopback during the tests of a file or `describe`. What it returns makes that server the one of S3. */
export function answeringServer(answers: RequestListener): () => S3Settings {
  const server = createServer(answers);
  let port = 0;
  beforeAll(async () => void (port = await listen(server)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return () => takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` });
}
