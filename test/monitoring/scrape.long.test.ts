import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { openWire } from '../stage/wire.ts';
import { byLabel, samplesIn, valueOf, type Sample } from './exposition.ts';

const ROWS = 120;
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 10,
  coldStartSeconds: 0.2,
  runSeconds: 0.5,
  runSpread: 0.2,
});

async function scrape(metrics: string): Promise<readonly Sample[]> {
  const answer = await fetch(metrics);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  return samplesIn(await answer.text());
}

const readiness = async (metrics: string) => {
  const answer = await fetch(metrics.replace('/metrics', '/readyz'));
  return { status: answer.status, body: (await answer.json()) as { checks: Record<string, string> } };
};

describe('the metrics of a real batch', () => {
  const stage = freshStage((stages) => stages.cluster(DEPLOYMENTS));

  const startWorker = async () => {
    const worker = await stage.worker({ RUNSHEET_METRICS: '0', RUNSHEET_LOG_LEVEL: 'info' });
    const [, metrics = ''] = await worker.says(/metrics at (\S+)/);
    return { worker, metrics };
  };

  it('survive a killed worker, and at the end equal summary.json', async () => {
    const first = await startWorker();
    await until(async () => (await readiness(first.metrics)).status === 200, 'the worker is ready');
    const batch = (
      await stage.run(['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '10', '--gpu', 'A10G'])
    ).stdout.trim();

    const doneAt = async (metrics: string): Promise<number> =>
      valueOf(await scrape(metrics), 'runsheet_batch_rows_done', { batch }) ?? 0;
    await until(async () => (await doneAt(first.metrics)) >= 20, 'the metrics show rows that are done');
    const during = await scrape(first.metrics);
    expect(valueOf(during, 'runsheet_batch_state', { batch, state: 'running' })).toBe(1);
    expect(valueOf(during, 'runsheet_batch_slots', { batch })).toBe(10);
    const outstanding = valueOf(during, 'runsheet_batch_outstanding', { batch, gpu: 'A10G' }) ?? 0;
    expect(outstanding).toBeGreaterThan(0);
    expect(outstanding).toBeLessThanOrEqual(10);
    expect(valueOf(during, 'runsheet_posts_total', { class: 'accepted' })).toBeGreaterThanOrEqual(20);
    expect(valueOf(during, 'runsheet_run_seconds_count')).toBeGreaterThanOrEqual(20);
    expect(valueOf(during, 'runsheet_webhook_delay_seconds_count')).toBeGreaterThan(0);
    expect(valueOf(during, 'runsheet_downloads_total', { result: 'complete' })).toBeGreaterThanOrEqual(20);
    expect(during.some(({ name }) => name.startsWith('temporal_'))).toBe(true);
    expect(during.some(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds')).toBe(true);
    const before = await doneAt(first.metrics);
    await first.worker.kill('SIGKILL');

    const second = await startWorker();
    expect(await doneAt(second.metrics)).toBeGreaterThanOrEqual(before);
    expect((await stage.run(['wait', batch])).code).toBe(0);
    const summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    await until(
      async () =>
        valueOf(await scrape(second.metrics), 'runsheet_batch_state', { batch, state: 'finished' }) === 1,
      'the metrics show the end',
    );
    const end = await scrape(second.metrics);
    expect(byLabel(end, 'runsheet_batch_rows_ended', 'outcome', { batch })).toEqual(summary.outcomes);
    expect(valueOf(end, 'runsheet_batch_rows', { batch })).toBe(summary.rows);
    expect(valueOf(end, 'runsheet_batch_cost_usd', { batch })).toBe(summary.cost_usd);
    expect(valueOf(end, 'runsheet_batch_duplicate_runs', { batch })).toBe(summary.bought_twice);
    const gpus = Object.entries(summary.gpus);
    expect(gpus.length).toBeGreaterThan(0);
    for (const [gpu, used] of gpus) {
      expect(valueOf(end, 'runsheet_batch_gpu_seconds', { batch, gpu })).toBe(used.seconds);
      expect(valueOf(end, 'runsheet_batch_gpu_runs', { batch, gpu })).toBe(used.runs);
      expect(valueOf(end, 'runsheet_batch_gpu_cost_usd', { batch, gpu })).toBe(used.cost_usd);
    }
    const { accepted, rejected, throttled, blocked, unconfirmed } = summary.requests;
    const requests = { accepted, rejected, throttled, blocked, unconfirmed };
    expect(byLabel(end, 'runsheet_batch_requests', 'result', { batch })).toEqual(requests);

    // A worker that never worked on the batch shows its end as well.
    const third = await startWorker();
    expect(valueOf(await scrape(third.metrics), 'runsheet_batch_cost_usd', { batch })).toBe(summary.cost_usd);
    expect(first.worker.stderr).toContain('the batch starts');
    expect(second.worker.stderr).toContain('the batch ended');
  });

  it.each(['silence', 'resets'] as const)(
    'say that no worker is ready which cannot reach Temporal (%s)',
    async (how) => {
      const wire = await openWire(stage.environment['TEMPORAL_ADDRESS'] ?? '');
      try {
        stage.environment = { ...stage.environment, TEMPORAL_ADDRESS: wire.address };
        const { metrics } = await startWorker();
        await until(async () => (await readiness(metrics)).status === 200, 'the worker is ready');
        wire.cut(how);
        await until(async () => (await readiness(metrics)).status === 503, 'the worker is not ready');
        expect((await readiness(metrics)).body.checks['temporal']).not.toBe('ok');
        wire.repair();
        await until(async () => (await readiness(metrics)).status === 200, 'the worker is ready again');
      } finally {
        await wire.close();
      }
    },
  );

  it('are refused on a port that is in use: the second worker ends and names the setting', async () => {
    const { metrics } = await startWorker();
    const second = await stage.run(['worker', '--metrics', new URL(metrics).port]);
    expect([second.code, second.stderr]).toEqual([2, expect.stringMatching(/E602.*[^]*RUNSHEET_METRICS/)]);
  });
});
