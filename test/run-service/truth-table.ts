// Compares, for every wire fault, the client's result with what the server received, and writes the table.

import pLimit from 'p-limit';
import { request, type Dispatcher } from 'undici';
import { classifyResponse, type PostClass, type PostFacts } from '../../src/batch/classify-response.ts';
import { connectRunService } from '../../src/run-service/client.ts';
import { keyFromEnvironment } from '../../src/host/api-key.ts';
import { ServiceClock } from '../../src/run-service/service-clock.ts';
import { openTransport } from '../../src/run-service/transport.ts';
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
  readonly became: PostClass;
};

type Case = Pick<Measured, 'connection' | 'body'> & { readonly fault: WireFault };

const DEADLINE_MS = 20_000;
const AT_ONCE = 12;
const PROMPT = { small: 'a portrait', '8 MB': 'x'.repeat(8_000_000) };

/** Every fault, on a new and on a kept connection, with a small and a large request. */
export async function measureAll(): Promise<readonly Measured[]> {
  const limit = pLimit(AT_ONCE);
  const full = await openFullPort();
  try {
    const cases = WIRE_FAULTS.flatMap((fault) =>
      (fault.connections ?? (['new', 'kept'] as const)).flatMap((connection) =>
        (fault.bodies ?? (['small', '8 MB'] as const)).map((body): Case => ({ fault, connection, body })),
      ),
    );
    // Cases that wait for a long time-out run concurrently with the others.
    return await Promise.all(
      cases.map((one) =>
        one.fault.base === undefined ? limit(() => measure(one, full.port)) : measure(one, full.port),
      ),
    );
  } finally {
    await full.close();
  }
}

async function measure({ fault, connection, body }: Case, fullPort: number): Promise<Measured> {
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
  const order = (prompt: string) => ({ deploymentId: RUN_FROM, inputs: { prompt }, webhook: undefined });
  let isWritten = false;
  const open = (): void => {
    if (fault.isShut) throw new Error('not now');
    isWritten = true;
    wire.begun();
  };
  if (connection === 'kept')
    await service.queueRun(order('first'), { beforeSend: () => undefined, deadlineMs });
  if (fault.isBusy) void occupy(transport, service.base);
  const posted = Promise.withResolvers<PostFacts>();
  wire.beforeOrder(() =>
    posted.resolve(service.queueRun(order(PROMPT[body]), { beforeSend: open, deadlineMs })),
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
    became: classifyResponse(facts),
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
    nobody: 'http://127.0.0.1:1/api',
    // No DNS label may be this long, so no name server is queried.
    'no name': `http://${'x'.repeat(64)}.invalid/api`,
  };
  return bases[base ?? 'itself'] ?? '';
}

/** The table as a page. Equal rows for all sizes, and then for all connections, are merged. */
export function pageOf(all: readonly Measured[]): string {
  const rows = all.map(({ what, connection, body, ...rest }) => [what, connection, body, ...outcomeOf(rest)]);
  const lines = joinAlike(joinAlike(rows, 2), 1);
  return [
    '# What a POST can come to',
    '',
    'Measured by `test/run-service/truth-table.test.ts` on the pinned undici, through our own client: what can go wrong on the wire between an order and its answer, what the server really had of the order, what our client saw, and what becomes of the attempt. An order is made on a new connection and on one that an earlier order left open, with a small body and with one of 8 MB.',
    '',
    'A first byte that was never written is the only proof that the service knows of nothing: the same words are seen where the server had the whole order and where it had none of it. Of a run id in an answer the wire cannot tell whose it is.',
    '',
    '| what happens | connection | order | first byte | the server had | what is seen | class |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n');
}

/** Merges rows that differ in one cell. */
function joinAlike(rows: readonly (readonly string[])[], cell: number): readonly (readonly string[])[] {
  const alike = Map.groupBy(rows, (row) => row.with(cell, '').join(' | '));
  return [...alike.values()].map(([first = [], ...others]) =>
    first.with(cell, [first, ...others].map((row) => row[cell]).join(', ')),
  );
}

const outcomeOf = ({
  isWritten,
  got,
  facts,
  became,
}: Pick<Measured, 'isWritten' | 'got' | 'facts' | 'became'>): readonly string[] => [
  isWritten ? 'written' : 'not written',
  got,
  seenIn(facts),
  became,
];

/** Removes the variable parts of a message. */
function seenIn({ status, runId, error }: PostFacts): string {
  if (runId !== undefined) return `${status}, ${runId === RUN ? 'the run id' : "another run's id"}`;
  if (status !== undefined) return `${status}, no run id`;
  const words = (error ?? '').replaceAll(/ 127\.0\.0\.1:\d+| x{64}\.invalid/g, '');
  return words.replace(/^[0-9A-F]+:error:([^:]*:[^:]*):.*$/s, 'error:$1').replace(/\(attempted.*?\) /, '');
}
