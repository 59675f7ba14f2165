// Sends spans to an OpenTelemetry collector, in batches. A collector that is away never delays a row: what does not fit into
// the queue is dropped.

import { setTimeout as wait } from 'node:timers/promises';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { errorMessage } from '../errors/error.ts';
import type { Span } from './spans.ts';

/** The spans of about 2,000 rows; the exporter sends no more than this at the same time. */
const QUEUE_MOST = 15_000;
const DELAY_MS = 1_000;
const TRY_MS = 5_000;
const CLOSE_MS = 2_000;

export function openSpanSink(url: string, log: Logger) {
  const exporter = quiet(new OTLPTraceExporter({ url, timeoutMillis: TRY_MS }), new URL(url).host, log);
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: QUEUE_MOST,
    scheduledDelayMillis: DELAY_MS,
    // The exporter ends each try itself.
    exportTimeoutMillis: 2 * TRY_MS,
  });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are stronger.
  const resource = resourceFromAttributes({ 'service.name': 'runsheet' }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  return {
    write: (span: Span): void => processor.onEnd(readable(span, resource)),
    close: async (): Promise<void> => {
      const end = new AbortController();
      const late = wait(CLOSE_MS, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
      await Promise.race([processor.shutdown().catch(() => undefined), late]);
      end.abort();
    },
  };
}

/** One line when the collector stops taking spans, and one when it takes them again. */
function quiet(exporter: SpanExporter, host: string, log: Logger): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ error }) => {
        const isTaken = error === undefined;
        if (!isTaken && !isAway)
          log.warn(
            { host, reason: errorMessage(error) },
            'traces do not arrive; they are dropped until they do',
          );
        if (isTaken && isAway) log.warn({ host }, 'traces arrive again');
        isAway = !isTaken;
        // A failure would reach the error handler of the process, which may belong to an application.
        done({ code: TAKEN });
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const TAKEN = 0;
const SAMPLED = 1;
const INTERNAL = 0;
const FAILED = 2;
const UNSET = 0;

function readable(span: Span, resource: ReadableSpan['resource']): ReadableSpan {
  const context = ({ traceId, spanId }: Pick<Span, 'traceId' | 'spanId'>) => ({
    traceId,
    spanId,
    traceFlags: SAMPLED,
  });
  const { parent, link } = span;
  return {
    name: span.name,
    kind: INTERNAL,
    spanContext: () => context(span),
    ...(parent && { parentSpanContext: context(parent) }),
    startTime: hrTime(span.from),
    endTime: hrTime(span.to),
    duration: hrTime(span.to - span.from),
    status: { code: span.isError ? FAILED : UNSET },
    attributes: span.attributes,
    links: link ? [{ context: context(link) }] : [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'runsheet' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
const hrTime = (ms: number): [number, number] => [Math.trunc(ms / 1000), Math.round((ms % 1000) * 1e6)];
