// Errors that no command meets: of applications with the plugin, and of workers that read what others have written.

import { text } from 'node:stream/consumers';
import { defaultPayloadConverter, type SerializationContext } from '@temporalio/common';
import { sheetAt } from '../../../src/batches/sheet-address.ts';
import { loadConfig } from '../../../src/host/settings/config.ts';
import { openDownloads } from '../../../src/host/http/download.ts';
import { encryptionWith } from '../../../src/temporal/encryption/codec.ts';
import { payloadKeys } from '../../../src/temporal/encryption/payload-keys.ts';
import { RunsheetPlugin } from '../../../src/worker/plugin.ts';
import type { Provocation } from '../provocation.ts';

const CONTEXT: SerializationContext = { type: 'workflow', namespace: 'n', workflowId: 'runsheet:ours' };

/** Reads the payload of a batch after one byte of it was changed. */
async function readChanged(): Promise<unknown> {
  const keys = payloadKeys(loadConfig({ RUNSHEET_PAYLOAD_KEY: '5'.repeat(64) }), 'cluster');
  const codec = encryptionWith(keys);
  const [payload = {}] = await codec.encode([defaultPayloadConverter.toPayload('a fox')], CONTEXT);
  const data = Buffer.from(payload.data ?? []);
  data[20] = (data[20] ?? 0) ^ 1;
  return codec.decode([{ ...payload, data }], CONTEXT);
}

async function readAway(): Promise<unknown> {
  const download = openDownloads(1);
  const how = { download, service: 'http://127.0.0.1:1/api', signal: AbortSignal.timeout(20_000) };
  return text(sheetAt('http://127.0.0.1:1/my%20hens.csv?signature=secret', how).stdin);
}

export const PROGRAMS: readonly Provocation<unknown>[] = [
  {
    code: 'E109',
    name: 'the host of a sheet cannot be reached',
    throws: readAway,
    says: /my%20hens\.csv cannot[^]*check that the worker can reach this address/,
  },
  {
    code: 'E409',
    name: 'a payload was changed',
    throws: readChanged,
    says: /someone with access to the Temporal namespace changed it, and none of it is used/,
  },
  {
    code: 'E416',
    name: 'a worker has no connection',
    throws: async () => new RunsheetPlugin().configureWorker({ taskQueue: 'q' }),
    says: /connection: await NativeConnection\.connect\(\{ address \}\)/,
  },
];
