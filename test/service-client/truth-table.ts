// Compares, for every wire fault, the client's result with what the server received, and writes the table.

import pLimit from 'p-limit';
import { request, type Dispatcher } from 'undici';
import { classifyResponse, type PostClass, type PostFacts } from '../../src/batch/classify-response.ts';
import { connectRunService } from '../../src/service-client/client.ts';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { openFullPort, RUN, Wire, type Got } from './wire.ts';
import { PATIENCE_MS, WIRE_FAULTS, type WireFault } from './wire-faults.ts';

export type Measured = {
  readonly what: string;
  readonly connection: 'new' | 'kept';
  readonly body: 'small' | '8 MB';
  /** Whether the first byte was written, according to beforeSend. */
  readonly isWritten: boolean;
  readonly got: Got;
  readonly facts: PostFacts;
  readonly class: PostClass;
};

type TruthCase = Pick<Measured, 'connection' | 'body'> & { readonly fault: WireFault };

const DEADLINE_MS = 20_000;
const CONCURRENCY = 12;
const PROMPT = { small: 'a portrait', '8 MB': 'x'.repeat(8_000_000) };

/** Every fault, on a new and on a kept connection, with a small and a large request. */
export async function measureAll(): Promise<readonly Measured[]> {
  const limit = pLimit(CONCURRENCY);
  const full = await openFullPort();
  try {
    const cases = WIRE_FAULTS.flatMap((fault) =>
      (fault.connections ?? (['new', 'kept'] as const)).flatMap((connection) =>
        (fault.bodies ?? (['small', '8 MB'] as const)).map((body): TruthCase => ({
          fault,
          connection,
          body,
        })),
      ),
    );
    // Cases that wait for a long time-out run concurrently with the others.
    return await Promise.all(
      cases.map((measuredCase) =>
        measuredCase.fault.base === undefined
          ? limit(() => measure(measuredCase, full.port))
          : measure(measuredCase, full.port),
      ),
    );
  } finally {
    await full.close();
  }
}

async function measure({ fault, connection, body }: TruthCase, fullPort: number): Promise<Measured> {
  const wire = await Wire.open(fault, connection === 'kept');
  const transport = openTransport(1);
  const key = keyFromEnvironment('key-000000001', 'TEST');
  const service = connectRunService({
    base: baseOf(fault, wire, fullPort),
    key,
    transport,
    clock: new ServiceClock(),
  });
  const deadlineMs = fault.deadlineMs ?? DEADLINE_MS;
  const paramsFor = (prompt: string) => ({ deploymentId: RUN_FROM, inputs: { prompt }, webhook: undefined });
  let isWritten = false;
  const open = (): void => {
    if (fault.isShut) throw new Error('not now');
    isWritten = true;
    wire.begun();
  };
  if (connection === 'kept')
    await service.queueRun(paramsFor('first'), { beforeSend: () => undefined, deadlineMs });
  if (fault.isBusy) void occupy(transport, service.base);
  const posted = Promise.withResolvers<PostFacts>();
  wire.beforeRequest(() =>
    posted.resolve(service.queueRun(paramsFor(PROMPT[body]), { beforeSend: open, deadlineMs })),
  );
  const facts = await posted.promise;
  await transport.destroy();
  return {
    what: fault.what,
    connection,
    body,
    isWritten,
    got: await wire.close(),
    facts,
    class: classifyResponse(facts),
  };
}

/** Occupies the only connection until the request's deadline has passed. */
async function occupy(dispatcher: Dispatcher, base: string): Promise<void> {
  await request(`${base}/busy`, { dispatcher, signal: AbortSignal.timeout(PATIENCE_MS + 500) }).catch(
    () => undefined,
  );
}

const RUN_FROM = '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d';

function baseOf({ base }: WireFault, wire: Wire, fullPort: number): string {
  const bases: Readonly<Record<string, string>> = {
    itself: `http://127.0.0.1:${wire.port}/api`,
    https: `https://127.0.0.1:${wire.port}/api`,
    full: `http://127.0.0.1:${fullPort}/api`,
    'closed port': 'http://127.0.0.1:1/api',
    // No DNS label may be this long, so no name server is queried.
    'no name': `http://${'x'.repeat(64)}.invalid/api`,
  };
  return bases[base ?? 'itself'] ?? '';
}

/** The table as a page. Equal rows for all sizes, and then for all connections, are merged. */
export function pageOf(results: readonly Measured[]): string {
  const rows = results.map(({ what, connection, body, ...facts }) => [
    what,
    connection,
    body,
    ...outcomeOf(facts),
  ]);
  const lines = joinAlike(joinAlike(rows, 2), 1);
  return [
    '# Results of a POST',
    '',
    '`test/service-client/truth-table.test.ts` measures this table with the pinned undici and our own client. Each row shows a fault on the wire between a request and its response, how much of the request the server received, what our client saw, and how it classified the attempt. Each request is sent on a new connection and on one that an earlier request left open, with a small body and with one of 8 MB.',
    '',
    'Only a first byte that was never written proves that the service received nothing: the client sees the same error message whether the server received the whole request or none of it. The wire does not show which request the run id in a response belongs to.',
    '',
    '| fault | connection | request body | first byte | server received | client saw | class |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n');
}

/** Merges rows that differ in one cell. */
function joinAlike(rows: readonly (readonly string[])[], cell: number): readonly (readonly string[])[] {
  const alike = Map.groupBy(rows, (row) => row.with(cell, '').join(' | '));
  return [...alike.values()].map(([first = [], ...alikeRows]) =>
    first.with(cell, [first, ...alikeRows].map((row) => row[cell]).join(', ')),
  );
}

const outcomeOf = ({
  isWritten,
  got,
  facts,
  class: postClass,
}: Pick<Measured, 'isWritten' | 'got' | 'facts' | 'class'>): readonly string[] => [
  isWritten ? 'written' : 'not written',
  got,
  seenIn(facts),
  postClass,
];

/** Removes the variable parts of a message. */
function seenIn({ status, runId, error }: PostFacts): string {
  if (runId !== undefined) return `${status}, ${runId === RUN ? 'the run id' : "another run's id"}`;
  if (status !== undefined) return `${status}, no run id`;
  const message = (error ?? '').replaceAll(/ 127\.0\.0\.1:\d+| x{64}\.invalid/g, '');
  return message.replace(/^[0-9A-F]+:error:([^:]*:[^:]*):.*$/s, 'error:$1').replace(/\(attempted.*?\) /, '');
}
