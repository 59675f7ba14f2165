// Writes the traces of rows when they end, from their records: a row can live for days, and a workflow is replayed.

import type { Logger } from 'pino';
import type { RowTraces } from '../../activities/deps.ts';
import type { BatchName } from '../batch/batch-ref.ts';
import type { BatchSignals } from '../batch/signals.ts';
import { errorMessage } from '../errors/error.ts';
import { parsePart } from '../results/parts.ts';
import { placeOf } from '../results/row-record.ts';
import { openSpanSink } from './span-sink.ts';
import { batchSpan, downloadSpan, reportSpan, rowSpans, type Span } from './spans.ts';

export type Traces = RowTraces & {
  /** The same signals; each reported end of a run is a span. */
  tracedSignals(signals: BatchSignals): BatchSignals;
  /** Sends what is left, for at most some seconds. */
  close(): Promise<void>;
};

/** Rows whose files are there, and whose part is not written yet. */
const FETCHED_MOST = 10_000;

export function openTraces(url: string, log: Logger): Traces {
  const { write, close } = openSpanSink(url, log);
  const fetchedAt = new Map<string, number>();
  const reading = new Set<Promise<void>>();
  const partCollected = async (...[deps, open, part]: Parameters<RowTraces['partCollected']>) => {
    const { file, store } = open;
    const records = parsePart((await store.read(part)) ?? '');
    const rows = await deps.readRows(open, records.map(placeOf));
    for (const record of records) {
      const place = placeOf(record);
      const row = rows.get(place);
      if (row === undefined) continue;
      const name = nameOf(file, place);
      const at = fetchedAt.get(name);
      fetchedAt.delete(name);
      const gpu = row.gpu ?? file.deployment.gpu;
      const facts = { key: row.key, ...(gpu && { gpu }), ...(at !== undefined && { fetchedAt: at }) };
      for (const span of rowSpans(file, record, facts)) write(span);
    }
  };
  return {
    filesFetched: (batch, fetched) => {
      const now = Date.now();
      if (fetchedAt.size < FETCHED_MOST) fetchedAt.set(nameOf(batch, fetched.place), now);
      write(downloadSpan(batch, fetched, now));
    },
    partCollected: (deps, open, part) => {
      const read = partCollected(deps, open, part)
        .catch((error: unknown) =>
          log.warn({ part, reason: errorMessage(error) }, 'the rows of a part have no traces'),
        )
        .finally(() => reading.delete(read));
      reading.add(read);
    },
    batchEnded: (file, end) => write(batchSpan(file, end)),
    tracedSignals: (signals) => tracedSignals(signals, write),
    close: async () => {
      await Promise.all(reading);
      await close();
    },
  };
}

const nameOf = ({ batch, mark }: BatchName, place: number): string => `${batch}~${mark} ${place}`;

const tracedSignals = (signals: BatchSignals, write: (span: Span) => void): BatchSignals => ({
  ...signals,
  runsCompleted: async (batch, by, completions) => {
    const from = Date.now();
    const delivered = await signals.runsCompleted(batch, by, completions);
    const times = { from, to: Date.now() };
    if (delivered !== 'gone') for (const one of completions) write(reportSpan(batch, by, one, times));
    return delivered;
  },
});
