// Makes a batch without a test: the processes of their own that make one load no test runner.

import { Readable } from 'node:stream';
import { withCopy } from '../../src/create-batch/copy-sheet.ts';
import { createBatch, type CreatedBatch, type CreateParams } from '../../src/create-batch/create-batch.ts';
import { deploymentSchema } from '../../src/run-service/contract/deployment.ts';

export const ASKED: Omit<CreateParams, 'copy' | 'out'> = {
  options: { map: {}, set: {}, drop: [], types: {} },
  order: {},
  deployment: deploymentSchema.parse({ id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' }),
  service: { base: 'local', api: 'v2', rehearsal: true, timing: undefined, prices: {} },
  settings: { retries: 0, deadlines: { queueMs: 86_400_000 }, webhooks: true },
  again: false,
};

export type Asked = Partial<typeof ASKED>;

/** A batch of the sheet at `path` in the folder `out`. */
export const create = (path: string, out: string, asked: Asked = {}): Promise<CreatedBatch> =>
  withCopy(path, { out, stdin: Readable.from([]) }, (copy) => createBatch({ ...ASKED, ...asked, copy, out }));
