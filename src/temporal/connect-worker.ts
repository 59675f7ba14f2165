// Connects a worker to Temporal. Commands that only ask Temporal do not load this file: the SDK of workers brings a bundler and a
// native core, which take longer to load than everything else together.

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorMessage, problem } from '../errors/error.ts';
import { openClient } from './encryption/labelled.ts';
import { routeText, workerRoute } from './grpc-proxy.ts';
import type { TemporalAddress } from './temporal-address.ts';

const ASK_AGAIN_MS = 50;

/** Compression costs more than it saves on a local connection. */
const compression = (address: string) =>
  /^(127\.|localhost|\[::1\])/.test(address) ? ({ grpcCompression: { codec: 'none' } } as const) : {};

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

// Sets up Temporal's native core, once for each process: its log lines go to our log, and its metrics to a local address.

/** The command line handles process signals. `metricsAt`: `host:port` where the core shows its metrics, if it should. */
export function installRuntime(log: Logger, metricsAt?: string): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    // The SDK logs a task that it could not start in full, with its payloads.
    const { task: _, taskEncoded: __, ...facts } = meta ?? {};
    if (level === 'ERROR') log.error(facts, message);
    // One of our two workers has no workflows on purpose.
    else if (!message.startsWith('No workflows registered')) log.warn(facts, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } },
      ...(metricsAt === undefined
        ? {}
        : { metrics: { prometheus: { bindAddress: metricsAt, ...IN_SECONDS } } }),
    },
  });
}

/** Names by the conventions of Prometheus. */
const IN_SECONDS = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
