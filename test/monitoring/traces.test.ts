import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenBatch } from '../../activities/deps.ts';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';
import { openTraces } from '../../src/monitoring/traces.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../stage/stage.ts';
import { otlpReceiver, spansIn, type Received } from './otlp-receiver.ts';

const MARK = '0123456789abcdef';
const NAME = { batch: 'b', mark: MARK };
const FILE = { ...NAME, deployment: { id: 'd-1', name: 'portraits', gpu: 'A10G' } } as unknown as BatchFile;
const RUN_1 = { run_id: 'r1', created_at: '2026-11-21T10:00:00Z', ended_at: '2026-11-21T10:00:10Z' };
const RUN_2 = { run_id: 'r2', created_at: '2026-11-21T10:00:15Z', ended_at: '2026-11-21T10:00:20Z' };
const TIMES = { queue_seconds: 2, cold_start_seconds: 3, run_seconds: 5, gpu_used: 'A10G', cost_usd: 0.01 };

const RECORD: PartRecord = {
  row: 7,
  outcome: 'succeeded',
  attempts: [
    {
      attempt: 1,
      outcome: 'failed',
      reason: 'the prompt "a private cat" is bad',
      failure: 'out-of-memory',
      ...RUN_1,
      ...TIMES,
    },
    { attempt: 2, outcome: 'succeeded', ...RUN_2, run_seconds: 5 },
  ],
  files: [],
};

const opened = (...records: readonly PartRecord[]): OpenBatch => ({
  file: FILE,
  store: {
    read: async () => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  } as unknown as Store,
  service: {} as OpenBatch['service'],
});

/** Every row of these tests has the key `cat` and a private prompt. */
const DEPS = {
  readRows: async (_: unknown, places: readonly number[]) =>
    new Map(places.map((place) => [place, { row: 7, key: 'cat', inputs: { prompt: 'a private cat' } }])),
};

describe('the traces of rows', () => {
  let receiver: Awaited<ReturnType<typeof otlpReceiver>>;
  let lines: { readonly msg: string }[];
  beforeEach(async () => {
    receiver = await otlpReceiver();
    lines = [];
  });
  afterEach(() => receiver.close());

  const open = (url = `${receiver.url}/v1/traces`) =>
    openTraces(url, pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }));

  /** What arrives if a worker writes this part and ends. */
  const spansOf = async (...records: readonly PartRecord[]): Promise<readonly Received[]> => {
    const traces = open();
    traces.partCollected(DEPS, opened(...records), 'parts/0000-000001.jsonl');
    await traces.close();
    return receiver.spans();
  };
  const tree = (spans: readonly Received[]): readonly (readonly [string, string | undefined, number])[] =>
    spans.map(({ name, parentSpanId, ms }) => [
      name,
      spans.find(({ spanId }) => spanId === parentSpanId)?.name,
      ms,
    ]);

  it('show each attempt of a row with its queueing, cold start and run', async () => {
    const spans = await spansOf(RECORD);
    expect(tree(spans)).toEqual([
      ['row 7', undefined, 20_000],
      ['attempt 1', 'row 7', 10_000],
      ['queued', 'attempt 1', 2_000],
      ['cold start', 'attempt 1', 3_000],
      ['run', 'attempt 1', 5_000],
      ['attempt 2', 'row 7', 5_000],
      ['run', 'attempt 2', 5_000],
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [row, attempt] = spans;
    expect(row).toMatchObject({
      service: 'runsheet',
      status: { code: 0 },
      attributes: {
        'runsheet.batch': 'b',
        'runsheet.deployment': 'portraits',
        'runsheet.row': 7,
        'runsheet.key': 'cat',
        'runsheet.gpu_asked': 'A10G',
        'runsheet.outcome': 'succeeded',
        'runsheet.attempts': 2,
      },
    });
    expect(attempt).toMatchObject({
      status: { code: 2 },
      attributes: { 'runsheet.run': 'r1', 'runsheet.failure': 'out-of-memory', 'runsheet.gpu_used': 'A10G' },
    });
  });

  it('have no inputs and no reasons, which may quote inputs', async () => {
    await spansOf(RECORD);
    expect(receiver.bodies.join('')).toContain('row 7');
    expect(receiver.bodies.join('')).not.toContain('private');
  });

  it('are the same spans if the activity is repeated by another worker', async () => {
    await spansOf(RECORD);
    await spansOf(RECORD);
    expect(receiver.bodies).toHaveLength(2);
    const [first, second] = receiver.bodies.map(spansIn);
    expect(second).toEqual(first);
  });

  it('are another trace for a row that is sent again, without its earlier attempts', async () => {
    const again = { ...RECORD, place: 2 ** 33 + 1, before: { outcome: 'failed', attempts: 1 } } as const;
    const spans = await spansOf(RECORD, again);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
    const { traceId } = spans.at(-1) as Received;
    expect(tree(spans.filter((one) => one.traceId === traceId)).map(([name]) => name)).toEqual([
      'row 7',
      'attempt 1',
      'run',
    ]);
  });

  it('have nothing for a row without a run, and no times that a service did not name', async () => {
    const never: PartRecord = { row: 1, outcome: 'cancelled', attempts: [], files: [] };
    const { ended_at } = RUN_1;
    const untimed = { attempt: 1, outcome: 'succeeded', run_id: 'r9', ended_at } as const;
    const spans = await spansOf(never, { ...never, row: 2, outcome: 'succeeded', attempts: [untimed] });
    expect(tree(spans)).toEqual([
      ['row 2', undefined, 0],
      ['attempt 1', 'row 2', 0],
    ]);
  });

  it('show how the batch learned of the end, and the download, in the trace of the row', async () => {
    const traces = open();
    const signals = traces.tracedSignals({
      runsCompleted: async () => 'taken',
    } as unknown as Parameters<typeof traces.tracedSignals>[0]);
    await signals.runsCompleted(NAME, 'webhook', [
      { place: 7, attempt: 2, runId: 'r2', outcome: 'succeeded' },
    ]);
    const startedAt = Date.now();
    traces.filesFetched(FILE, {
      place: 7,
      attempt: 2,
      startedAt,
      deferred: 0,
      result: 'delivered',
      bytes: 5,
    });
    traces.partCollected(DEPS, opened(RECORD), 'parts/0000-000001.jsonl');
    await traces.close();
    const spans = receiver.spans();
    const created = Date.parse(RUN_1.created_at);
    expect(spans.find(({ name }) => name === 'row 7')?.ms).toBeGreaterThanOrEqual(startedAt - created);
    expect(tree(spans)).toEqual(
      expect.arrayContaining([
        ['webhook', 'attempt 2', expect.any(Number)],
        ['download', 'row 7', expect.any(Number)],
      ]),
    );
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('link to the span of the batch, which says how many rows have no success', async () => {
    const traces = open();
    const tally = { outcomes: { ...NO_OUTCOMES, succeeded: 2, failed: 1 } };
    const progress = { rows: 3, tally, costUsd: 0.5, ledger: { duplicates: 0 } };
    traces.batchEnded(FILE, { progress: progress as never, startedAt: 1_000, endedAt: 61_000 });
    await traces.close();
    const [row, batch] = [(await spansOf(RECORD)).at(1), receiver.spans().at(0)];
    expect(batch).toMatchObject({
      name: 'batch b',
      ms: 60_000,
      status: { code: 2 },
      attributes: { 'runsheet.rows': 3, 'runsheet.rows_without_success': 1 },
    });
    expect(row?.links).toMatchObject([{ traceId: batch?.traceId, spanId: batch?.spanId }]);
  });

  it('delay nothing while the collector is away: one line says so, and spans beyond the queue are dropped', async () => {
    await receiver.close();
    const traces = open();
    const startedAt = Date.now();
    for (let place = 1; place <= 30_000; place += 1)
      traces.filesFetched(FILE, { place, attempt: 1, startedAt, deferred: 0, result: 'delivered', bytes: 1 });
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    await traces.close();
    await until(() => lines.length > 0, 'the log says that traces do not arrive');
    expect(lines.map(({ msg }) => msg)).toEqual(['traces do not arrive; they are dropped until they do']);
  });
});
