// A receiver of OTLP over HTTP, as Jaeger, Tempo and the collector have one.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Value = { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
type Wire = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
};
type Body = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Wire['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Wire[] }[];
  }[];
};

export type Received = Omit<Wire, 'attributes'> & {
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly ms: number;
};

export async function otlpReceiver() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method === 'POST' && request.url === '/v1/traces') bodies.push(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    /** Each span once, by its ids: the last one that arrived. */
    spans: (): readonly Received[] => [
      ...new Map(bodies.flatMap(spansIn).map((one) => [`${one.traceId}/${one.spanId}`, one])).values(),
    ],
    close: async (): Promise<void> => {
      server.closeAllConnections();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

export function spansIn(body: string): readonly Received[] {
  return (JSON.parse(body) as Body).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        service: valuesOf(resource.attributes)['service.name'],
        attributes: valuesOf(span.attributes),
        ms: Number((BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000n),
      })),
    ),
  );
}

const valuesOf = (attributes: Wire['attributes']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? intValue ?? doubleValue,
    ]),
  );
