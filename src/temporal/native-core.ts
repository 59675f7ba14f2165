// Sets up the native core of Temporal once per process: its log lines go to our log, and its metrics to a local address.

import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

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
