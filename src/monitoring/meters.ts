// What this process has seen: counters and histograms. They begin at zero with each process; the figures of batches do not
// (batch-gauges.ts).

import { Counter, Histogram, type Registry } from 'prom-client';
import { classifyResponse, type PostClass } from '../batch/classify-response.ts';
import type { RunCompletion } from '../batch/events.ts';
import { OUTCOMES } from '../batch/outcome.ts';
import type { BatchSignals } from '../batch/signals.ts';
import type { ServiceCall } from '../run-service/connection.ts';
import { CALL_NAMES } from '../run-service/contract/paths.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { Download } from '../run-service/download.ts';
import { FileFault, HostFault } from '../run-service/file-faults.ts';

/** The labels of answers; the service could answer with any status. */
const ANSWERS = ['2xx', '4xx', '429', '5xx', 'none'] as const;
type Answer = (typeof ANSWERS)[number];

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

export type Meters = ReturnType<typeof createMeters>;

export function createMeters(registry: Registry) {
  const registers = [registry];
  const service = serviceMeters(registers);
  const runs = runMeters(registers);
  const webhooks = webhookMeters(registers);
  const files = fileMeters(registers);
  return { ...service, ...runs, ...webhooks, ...files };
}

function serviceMeters(registers: Registry[]) {
  const requests = new Counter({
    name: 'runsheet_service_requests_total',
    help: 'Requests to the run service by call and answer; none: no answer arrived',
    labelNames: ['call', 'answer'],
    registers,
  });
  const seconds = new Histogram({
    name: 'runsheet_service_request_seconds',
    help: 'Time from a request to the run service to the end of its answer',
    labelNames: ['call'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const posts = new Counter({
    name: 'runsheet_posts_total',
    help: 'Queue Run calls by what their answer means for the attempt',
    labelNames: ['class'],
    registers,
  });
  // A counter that appears with its first event hides this event from rate() and increase().
  for (const call of CALL_NAMES) for (const answer of ANSWERS) requests.inc({ call, answer }, 0);
  for (const each of POST_CLASSES) posts.inc({ class: each }, 0);
  return {
    requestEnded: ({ call, status, seconds: took, post }: ServiceCall): void => {
      if (post !== undefined) posts.inc({ class: classifyResponse(post) });
      if (post?.begun === false) return;
      requests.inc({ call, answer: answerOf(status) });
      seconds.observe({ call }, took);
    },
  };
}

function answerOf(status: number | undefined): Answer {
  if (status === undefined) return 'none';
  if (status === 429) return '429';
  if (status >= 500) return '5xx';
  return status >= 400 ? '4xx' : '2xx';
}

function runMeters(registers: Registry[]) {
  const ends = new Counter({
    name: 'runsheet_run_ends_total',
    help: 'Ends of runs that this process reported to their batches, by outcome and how it learned of them',
    labelNames: ['outcome', 'by'],
    registers,
  });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, buckets: RUN_SECONDS, registers });
  const queued = histogram(
    'runsheet_run_queue_seconds',
    'Time from the creation of a run until a machine takes it',
  );
  const started = histogram('runsheet_run_cold_start_seconds', 'Time from then until the run starts');
  const ran = histogram('runsheet_run_seconds', 'Time from the start of a run to its end');
  for (const outcome of OUTCOMES) for (const by of SOURCES) ends.inc({ outcome, by }, 0);
  return {
    runEnded: ({ outcome, times }: RunCompletion, by: (typeof SOURCES)[number]): void => {
      ends.inc({ outcome, by });
      if (times === undefined) return;
      const [queueMs, bootMs, runMs] = times;
      queued.observe(queueMs / 1000);
      started.observe(bootMs / 1000);
      ran.observe(runMs / 1000);
    },
  };
}

function webhookMeters(registers: Registry[]) {
  const answered = new Counter({
    name: 'runsheet_webhooks_total',
    help: 'Webhooks by the status of our answer',
    labelNames: ['status'],
    registers,
  });
  const delay = new Histogram({
    name: 'runsheet_webhook_delay_seconds',
    help: 'Time from the end of a run to its webhook, by the clock of the service',
    buckets: WEBHOOK_SECONDS,
    registers,
  });
  for (const status of WEBHOOK_ANSWERS) answered.inc({ status }, 0);
  return {
    webhookAnswered: (status: number): void => answered.inc({ status: String(status) }),
    /** A webhook led to this run; `nowMs`: the time of the service. */
    webhookRead: (run: Pick<Run, 'endedAtMs'> | undefined, nowMs: number | undefined): void => {
      if (run?.endedAtMs === undefined || nowMs === undefined) return;
      delay.observe(Math.max(0, nowMs - run.endedAtMs) / 1000);
    },
  };
}

function fileMeters(registers: Registry[]) {
  const downloads = new Counter({
    name: 'runsheet_downloads_total',
    help: 'Downloads of files by their end: complete, a fault of the file, a fault of its host, or stopped by us',
    labelNames: ['result'],
    registers,
  });
  const bytes = new Counter({
    name: 'runsheet_download_bytes_total',
    help: 'Bytes of files that arrived',
    registers,
  });
  const seconds = new Histogram({
    name: 'runsheet_download_seconds',
    help: 'Time of a download',
    buckets: REQUEST_SECONDS,
    registers,
  });
  const store = new Counter({
    name: 'runsheet_store_failures_total',
    help: 'Activities that could not write or read the batch folder',
    registers,
  });
  for (const result of DOWNLOAD_RESULTS) downloads.inc({ result }, 0);
  return {
    downloadEnded: (result: DownloadResult, took: number): void => {
      downloads.inc({ result });
      seconds.observe(took);
    },
    bytesArrived: (count: number): void => bytes.inc(count),
    storeFailed: (): void => store.inc(),
  };
}

/** Counts downloads without changing them. */
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
