// Dependencies of activities. A test defines the service, the folder and the batch; using anything else throws.

import pino from 'pino';
import { DownloadSlots } from '../../activities/download-slots.ts';
import type { Deps, OpenBatch } from '../../activities/deps.ts';
import { DEFAULT_TIMING } from '../../src/batch/params.ts';
import type { Arriving, Download } from '../../src/host/http/download.ts';
import type { RememberingService } from '../../src/service-client/remembering.ts';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { holderHere } from '../../src/store/holder.ts';
import type { Store } from '../../src/store/store.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { ReportedRuns } from '../../src/webhook/reported-runs.ts';
import { WaitingGroups } from '../../src/webhook/waiting-groups.ts';

export const SERVICE = 'http://127.0.0.1:1/api';
export const MARK = '0123456789abcdef';
export const REF = { batch: 'b', mark: MARK, folder: '/nowhere' };

/** A run as the service would show it. */
export function runOf(id: string, status: string, files: readonly string[] = []): Run {
  const images = files.map((url) => ({ url, filename: 'one.bin', type: 'output' }));
  const outputs = images.length > 0 ? [{ data: { images } }] : [];
  const endedAt = ['success', 'failed', 'cancelled'].includes(status) ? '2026-11-21T10:00:00Z' : null;
  return runSchema.parse({ id, status, ended_at: endedAt, outputs });
}

export type DepsOverrides = {
  readonly service?: Partial<RememberingService>;
  readonly store?: Partial<Store>;
  readonly workflowId?: string;
} & Partial<Deps>;

function openOf({ service = {}, store = {}, workflowId }: DepsOverrides): OpenBatch {
  const file = {
    batch: 'b',
    mark: MARK,
    sheet: { rows: 3, lanes: [{ places: 3 }], options: {}, inputs: [] },
    concurrency: 3,
    retries: 2,
    unconfirmed: { rule: 'unknown', afterMs: 1_000 },
    seed: 1,
    deployment: { id: 'd', workflowId },
    service: { prices: {}, timing: { ...DEFAULT_TIMING, postDeadlineMs: 5_000 } },
    webhooks: true,
    deadlines: { queueMs: 86_400_000, runMs: 7_200_000 },
  } as unknown as BatchFile;
  return {
    file,
    store: { read: async () => undefined, ...store } as unknown as Store,
    service: {
      base: SERVICE,
      forget: () => undefined,
      nowMs: () => undefined,
      ...service,
    } as RememberingService,
  };
}

export function depsOf(overrides: DepsOverrides): Deps {
  const own = {
    log: pino({ level: 'silent' }),
    downloadSlots: new DownloadSlots(),
    reported: new ReportedRuns(),
    ownRuns: new OwnRuns(),
    waitingGroups: new WaitingGroups(),
    posts: {
      stopping: new AbortController().signal,
      began: () => undefined,
      answered: () => undefined,
    },
    open: async () => openOf(overrides),
    standing: async () => ({ is: 'ours' }),
    holder: holderHere({ kind: 'embedded', home: '/nowhere/.runsheet' }),
  };
  return { ...own, ...overrides } as unknown as Deps;
}

/** A download that returns or throws the result of `content` for an address. */
export const downloadOf =
  (content: (url: string) => Uint8Array | Promise<Uint8Array>): Download =>
  async (url): Promise<Arriving> => {
    const bytes = await content(url);
    return { from: 0, bytes: bytes.byteLength, validator: undefined, chunks: once(bytes) };
  };

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
