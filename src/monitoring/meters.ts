// Observations of this process: counters and histograms. They begin at zero with each process; the figures of batches
// do not (batch-gauges.ts).

import { Counter, Histogram, type Registry } from 'prom-client';
import { classifyResponse, type PostClass } from '../batch/classify-response.ts';
import type { RunCompletion, BatchSignals } from '../batch/events.ts';
import { OUTCOMES } from '../batch/outcome.ts';
import type { ServiceCall } from '../service-client/connection.ts';
import { CALL_NAMES } from '../service-client/contract/paths.ts';
import type { Run } from '../service-client/contract/run.ts';
import type { Download } from '../host/http/download.ts';
import { FileFault, HostFault } from '../host/http/download-faults.ts';

/** The classes of answers, because the service could answer with any status. */
const ANSWERS = ['2xx', '4xx', '429', '5xx', 'none'] as const;
type AnswerClass = (typeof ANSWERS)[number];

const POST_CLASSES: readonly PostClass[] = [
  'accepted',
  'rejected',
  'not-sent',
  'throttled',
  'blocked',
  'unconfirmed',
];
const SOURCES = ['webhook', 'poll'] as const;
const WEBHOOK_ANSWERS = ['200', '400', '404', '410', '413', '503'] as const;
const DOWNLOAD_RESULTS = ['complete', 'file', 'host', 'stopped'] as const;
type DownloadResult = (typeof DOWNLOAD_RESULTS)[number];

const REQUEST_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120];
const RUN_SECONDS = [1, 3, 10, 30, 60, 120, 300, 600, 1800, 3600];
const WEBHOOK_SECONDS = [0.1, 0.3, 1, 3, 10, 30, 60, 300, 1800];

type Labels = Readonly<Record<string, readonly string[]>>;

export type Meters = ReturnType<typeof createMeters>;

export function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labels: Labels = {}): Counter => {
    const metric = new Counter({ name, help, labelNames: Object.keys(labels), registers });
    // A counter that appears only with its first event hides this event from rate() and increase().
    for (const series of seriesOf(labels)) metric.inc(series, 0);
    return metric;
  };
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]): Histogram =>
    new Histogram({ name, help, buckets, labelNames, registers });
  return { ...serviceMeters(counter, histogram), ...fileMeters(counter, histogram) };
}

const seriesOf = (labels: Labels): readonly Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (series, [name, values]) =>
      series.flatMap((labelSet) => values.map((value) => ({ ...labelSet, [name]: value }))),
    [{}],
  );

type MakeCounter = (name: string, help: string, labels?: Labels) => Counter;
type MakeHistogram = (name: string, help: string, buckets: number[], ...labels: string[]) => Histogram;

function serviceMeters(counter: MakeCounter, histogram: MakeHistogram) {
  const requests = counter(
    'runsheet_service_requests_total',
    'Requests to the run service by call and answer; none: no answer arrived',
    { call: CALL_NAMES, answer: ANSWERS },
  );
  const requestSeconds = histogram(
    'runsheet_service_request_seconds',
    'Time from a request to the run service to the end of its answer',
    REQUEST_SECONDS,
    'call',
  );
  const posts = counter(
    'runsheet_posts_total',
    'Queue Run calls by what their answer means for the attempt',
    { class: POST_CLASSES },
  );
  const ends = counter(
    'runsheet_run_ends_total',
    'Ends of runs that this process reported to their batches, by outcome and how it learned of them',
    { outcome: OUTCOMES, by: SOURCES },
  );
  const times = [
    histogram(
      'runsheet_run_queue_seconds',
      'Time from the creation of a run until a machine takes it',
      RUN_SECONDS,
    ),
    histogram('runsheet_run_cold_start_seconds', 'Time from then until the run starts', RUN_SECONDS),
    histogram('runsheet_run_seconds', 'Time from the start of a run to its end', RUN_SECONDS),
  ];
  const answered = counter('runsheet_webhooks_total', 'Webhooks by the status of our answer', {
    status: WEBHOOK_ANSWERS,
  });
  const delay = histogram(
    'runsheet_webhook_delay_seconds',
    'Time from the end of a run to its webhook, by the clock of the service',
    WEBHOOK_SECONDS,
  );
  return {
    requestEnded: ({ call, status, seconds, post }: ServiceCall): void => {
      if (post !== undefined) posts.inc({ class: classifyResponse(post) });
      if (post?.begun === false) return;
      requests.inc({ call, answer: answerOf(status) });
      requestSeconds.observe({ call }, seconds);
    },
    runEnded: ({ outcome, times: took }: RunCompletion, by: (typeof SOURCES)[number]): void => {
      ends.inc({ outcome, by });
      for (const [at, ms] of took?.entries() ?? []) times[at]?.observe(ms / 1000);
    },
    webhookAnswered: (status: number): void => answered.inc({ status: String(status) }),
    /** A webhook led to this run; `nowMs`: the time of the service. */
    webhookRead: (run: Pick<Run, 'endedAtMs'> | undefined, nowMs: number | undefined): void => {
      if (run?.endedAtMs === undefined || nowMs === undefined) return;
      delay.observe(Math.max(0, nowMs - run.endedAtMs) / 1000);
    },
  };
}

function answerOf(status: number | undefined): AnswerClass {
  if (status === undefined) return 'none';
  if (status === 429) return '429';
  if (status >= 500) return '5xx';
  return status >= 400 ? '4xx' : '2xx';
}

function fileMeters(counter: MakeCounter, histogram: MakeHistogram) {
  const downloads = counter(
    'runsheet_downloads_total',
    'Downloads of files by their end: complete, a fault of the file, a fault of its host, or stopped by us',
    { result: DOWNLOAD_RESULTS },
  );
  const bytes = counter('runsheet_download_bytes_total', 'Bytes of files that arrived');
  const seconds = histogram('runsheet_download_seconds', 'Time of a download', REQUEST_SECONDS);
  const store = counter(
    'runsheet_store_failures_total',
    'Activities that could not write or read the batch folder',
  );
  return {
    downloadEnded: (result: DownloadResult, took: number): void => {
      downloads.inc({ result });
      seconds.observe(took);
    },
    bytesArrived: (count: number): void => bytes.inc(count),
    storeFailed: (): void => store.inc(),
  };
}

export function meteredDownload(
  download: Download,
  meters: Pick<Meters, 'downloadEnded' | 'bytesArrived'>,
): Download {
  return async (url, wanted) => {
    const startedAt = performance.now();
    const ended = (result: DownloadResult): void =>
      meters.downloadEnded(result, (performance.now() - startedAt) / 1000);
    try {
      const arriving = await download(url, wanted);
      return { ...arriving, chunks: counted(arriving.chunks, meters, ended) };
    } catch (error) {
      ended(resultOf(error));
      throw error;
    }
  };
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  { bytesArrived }: Pick<Meters, 'bytesArrived'>,
  ended: (result: DownloadResult) => void,
): AsyncGenerator<Uint8Array> {
  // A reader that stops early closes this generator, which then ends without an error.
  let result: DownloadResult = 'stopped';
  try {
    for await (const chunk of chunks) {
      bytesArrived(chunk.byteLength);
      yield chunk;
    }
    result = 'complete';
  } catch (error) {
    result = resultOf(error);
    throw error;
  } finally {
    ended(result);
  }
}

function resultOf(error: unknown): DownloadResult {
  if (error instanceof FileFault) return 'file';
  return error instanceof HostFault ? 'host' : 'stopped';
}

/** Counts the ends of runs that this worker reports to batches, whether a webhook or a poll showed them. */
export const meteredSignals = (
  signals: BatchSignals,
  { runEnded }: Pick<Meters, 'runEnded'>,
): BatchSignals => ({
  ...signals,
  runsCompleted: async (batch, by, completions) => {
    const delivered = await signals.runsCompleted(batch, by, completions);
    for (const completion of completions) runEnded(completion, by);
    return delivered;
  },
});
