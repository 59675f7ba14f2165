import { randomBytes } from 'node:crypto';
import { machineS3 } from '../../../src/host/settings/s3-settings.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';

/** A new bucket of the server in the settings of this process. */
export async function makeBucket(): Promise<string> {
  const settings = machineS3();
  const bucket = `runsheet-test-${randomBytes(6).toString('hex')}`;
  await new S3Client({ bucket, key: '' }, settings).send({ method: 'PUT', key: '' });
  return bucket;
}
