import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunCompletion, BatchSignals } from '../../src/batch/events.ts';
import { createMeters, meteredDownload, meteredSignals, type Meters } from '../../src/monitoring/meters.ts';
import { connectRunService } from '../../src/service-client/client.ts';
import { callName } from '../../src/service-client/contract/paths.ts';
import { v1RunPath } from '../../src/service-client/contract/v1.ts';
import type { Download } from '../../src/host/http/download.ts';
import { HostFault, FileFault } from '../../src/host/http/download-faults.ts';
import { downloadOf } from '../activities/deps.ts';
import { answer, scriptedAt } from '../service-client/scripted.ts';
import { byLabel, samplesIn, valueOf, type Sample } from './exposition.ts';

const LIMITS = { beforeSend: () => undefined, deadlineMs: 5_000 };
const REQUEST = { deploymentId: 'd', inputs: {}, gpu: undefined, webhook: 'http://127.0.0.1:1/' };

describe('the meters', () => {
  let registry: Registry;
  let meters: Meters;

  beforeEach(() => {
    registry = new Registry();
    meters = createMeters(registry);
  });
  const shown = async (): Promise<readonly Sample[]> => samplesIn(await registry.metrics());

  it('count requests to the service by call and answer, and POSTs by what they mean', async () => {
    const bodies = [
      answer(429, '{"detail":"slow down"}'),
      answer(500, '{}'),
      answer(500, '{}'),
      answer(404, '{}'),
    ];
    const { at } = await scriptedAt((socket, _, nth) => void socket.write(bodies[nth - 1] ?? ''));
    const service = connectRunService({ ...at, observe: meters.requestEnded });
    await service.queueRun(REQUEST, LIMITS);
    await service.queueRun(REQUEST, LIMITS);
    await expect(service.getRun('r')).rejects.toMatchObject({ code: 'E304' });
    await expect(service.listRuns('w', { limit: 1, offset: 0 })).rejects.toMatchObject({ code: 'E304' });
    const samples = await shown();
    const requests = (call: string) =>
      byLabel(samples, 'runsheet_service_requests_total', 'answer', { call });
    expect(requests('queue_run')).toMatchObject({ '429': 1, '5xx': 1, '2xx': 0 });
    expect(requests('get_run')).toMatchObject({ '5xx': 1 });
    expect(requests('list_runs')).toMatchObject({ '4xx': 1 });
    expect(byLabel(samples, 'runsheet_posts_total', 'class')).toMatchObject({ throttled: 1, unconfirmed: 1 });
    expect(valueOf(samples, 'runsheet_service_request_seconds_count', { call: 'queue_run' })).toBe(2);
  });

  it('count a request without an answer as such, and one that was never written not at all', async () => {
    const { at } = await scriptedAt((socket) => socket.destroy());
    const service = connectRunService({ ...at, observe: meters.requestEnded });
    await service.queueRun(REQUEST, LIMITS);
    const refuse = (): never => {
      throw new Error('the lease is over');
    };
    await service.queueRun(REQUEST, { ...LIMITS, beforeSend: refuse });
    await expect(service.getRun('r')).rejects.toMatchObject({ code: 'E304' });
    const samples = await shown();
    const none = byLabel(samples, 'runsheet_service_requests_total', 'call', { answer: 'none' });
    expect(none).toMatchObject({ queue_run: 1, get_run: 1 });
    expect(byLabel(samples, 'runsheet_posts_total', 'class')).toMatchObject({
      unconfirmed: 1,
      'not-sent': 1,
    });
  });

  it('tell the calls apart in both versions of the API', () => {
    expect(
      ['/run/1-2', v1RunPath('1-2'), '/run/1-2/cancel', '/workflow/w/runs?limit=1', '/deployments'].map(
        callName,
      ),
    ).toEqual(['get_run', 'get_run', 'cancel_run', 'list_runs', 'other']);
  });

  it('count ends of runs once the batch has them, with their times', async () => {
    let isAway = true;
    const runsCompleted: BatchSignals['runsCompleted'] = async () => {
      if (isAway) throw new Error('Temporal is away');
      return 'taken';
    };
    const signals = meteredSignals({ runsCompleted } as unknown as BatchSignals, meters);
    const end: RunCompletion = {
      place: 1,
      attempt: 1,
      runId: 'r',
      outcome: 'failed',
      times: [3_000, 1_000, 8_000],
    };
    const batch = { batch: 'b', mark: '0123456789abcdef' };
    await expect(signals.runsCompleted(batch, 'poll', [end])).rejects.toThrow('Temporal is away');
    isAway = false;
    await signals.runsCompleted(batch, 'webhook', [
      end,
      { ...end, times: undefined } as unknown as RunCompletion,
    ]);
    const samples = await shown();
    expect(byLabel(samples, 'runsheet_run_ends_total', 'outcome', { by: 'webhook' })).toMatchObject({
      failed: 2,
    });
    expect(byLabel(samples, 'runsheet_run_ends_total', 'outcome', { by: 'poll' })).toMatchObject({
      failed: 0,
    });
    expect(valueOf(samples, 'runsheet_run_queue_seconds_sum')).toBe(3);
    expect(valueOf(samples, 'runsheet_run_cold_start_seconds_sum')).toBe(1);
    expect(valueOf(samples, 'runsheet_run_seconds_sum')).toBe(8);
    expect(valueOf(samples, 'runsheet_run_seconds_count')).toBe(1);
  });

  it('measure how late a webhook is by the clock of the service, and only for runs that have ended', async () => {
    meters.webhookRead({ endedAtMs: 10_000 }, 14_000);
    meters.webhookRead({ endedAtMs: undefined }, 14_000);
    meters.webhookRead({ endedAtMs: 10_000 }, undefined);
    meters.webhookRead(undefined, 14_000);
    const samples = await shown();
    expect(valueOf(samples, 'runsheet_webhook_delay_seconds_sum')).toBe(4);
    expect(valueOf(samples, 'runsheet_webhook_delay_seconds_count')).toBe(1);
  });

  const take = async (download: Download, most = Infinity): Promise<void> => {
    const arriving = await download('http://x/', { service: 's', signal: new AbortController().signal });
    let read = 0;
    for await (const chunk of arriving.chunks) if ((read += chunk.byteLength) >= most) break;
  };

  it('count downloads by how they ended, and their bytes', async () => {
    const metered = (content: Parameters<typeof downloadOf>[0]): Download =>
      meteredDownload(downloadOf(content), meters);
    await take(metered(() => new Uint8Array(7)));
    await take(
      metered(() => new Uint8Array(5)),
      1,
    );
    const host = metered(() => {
      throw new HostFault('x', 'gone', 1);
    });
    await expect(take(host)).rejects.toThrow('gone');
    const file = metered(() => {
      throw new FileFault('404', 1);
    });
    await expect(take(file)).rejects.toThrow('404');
    const samples = await shown();
    expect(byLabel(samples, 'runsheet_downloads_total', 'result')).toEqual({
      complete: 1,
      stopped: 1,
      host: 1,
      file: 1,
    });
    expect(valueOf(samples, 'runsheet_download_bytes_total')).toBe(12);
    expect(valueOf(samples, 'runsheet_download_seconds_count')).toBe(4);
  });

  it('count a download that breaks off as a fault of the host', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(3);
      throw new HostFault('x', 'the transfer ended', 1);
    }
    const download: Download = async () => ({ from: 0, bytes: 9, validator: undefined, chunks: broken() });
    await expect(take(meteredDownload(download, meters))).rejects.toThrow('the transfer ended');
    expect(byLabel(await shown(), 'runsheet_downloads_total', 'result')).toMatchObject({
      host: 1,
      complete: 0,
    });
  });
});
