// The server refuses a summary of more than 400 bytes, and a refused command would block the workflow of a batch.

import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { SUMMARY_BYTES } from '../../src/batch/shown/shown-batch.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { encryptionWith } from '../../src/temporal/encryption/codec.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';

const SERVER_BYTES = 400;

it('the longest summary of the batch with the longest name is below the limit, also encrypted', async () => {
  const keys = payloadKeys(loadConfig({ RUNSHEET_PAYLOAD_KEY: '00'.repeat(32) }), 'cluster');
  const workflowId = workflowIdOf({ batch: 'b'.repeat(100), mark: '0123456789abcdef' });
  const plain = defaultPayloadConverter.toPayload('x'.repeat(SUMMARY_BYTES));
  const context = { type: 'workflow', namespace: 'n', workflowId } as const;
  const [encrypted] = await encryptionWith(keys).encode([plain], context);
  expect(Buffer.from(encrypted?.data ?? []).includes('xxxx')).toBe(false);
  const { Payload } = proto.temporal.api.common.v1;
  expect(Payload.encode(encrypted ?? {}).finish().length).toBeLessThan(SERVER_BYTES);
});
