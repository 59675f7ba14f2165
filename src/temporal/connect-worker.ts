// Connects a worker to Temporal. Commands that only query Temporal do not load this file: the worker SDK brings a
// bundler and a native core, which take longer to load than everything else together.

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { errorMessage, problem } from '../errors/error.ts';
import { isLoopbackAddress } from '../options/loopback.ts';
import { openClient } from './encryption/labelled.ts';
import { routeText, workerRoute } from './grpc-proxy.ts';
import type { TemporalAddress } from './temporal-address.ts';

const ASK_AGAIN_MS = 50;

/** Compression costs more than it saves on a local connection. */
const compression = (address: string) =>
  isLoopbackAddress(address) ? ({ grpcCompression: { codec: 'none' } } as const) : {};

/** A worker's connection, shared with its client. Throws E401 if the server does not answer within `patienceMs`. */
export async function connectWorker(
  at: TemporalAddress,
  patienceMs: number,
  dataConverter: DataConverter,
): Promise<{ connection: NativeConnection; client: Client }> {
  const { address } = at;
  const options = { address, ...compression(address), ...workerRoute(address), ...at.options };
  for (const until = Date.now() + patienceMs; ;) {
    try {
      const connection = await NativeConnection.connect(options);
      return { connection, client: openClient({ connection, namespace: at.namespace, dataConverter }) };
    } catch (error) {
      const reason = `${errorMessage(error)}${routeText(address)}`;
      if (Date.now() >= until) throw problem('E401', { address, from: at.from, reason }, { cause: error });
      await wait(ASK_AGAIN_MS);
    }
  }
}
