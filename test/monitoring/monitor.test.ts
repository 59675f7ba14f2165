import { chmodSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { createMonitor, type MonitorDeps, watchReadiness } from '../../src/monitoring/monitor.ts';
import { checkPlace } from '../../src/store/open-store.ts';
import { samplesIn, valueOf } from './exposition.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('the server for operators', () => {
  let folder = '';
  let monitor: Awaited<ReturnType<typeof createMonitor>>;
  let wrong: string | undefined;
  let closers: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    folder = freshFolder();
    [wrong, closers] = [undefined, []];
    monitor = await createMonitor();
  });
  afterEach(async () => {
    for (const close of closers) await close();
  });

  const open = async (deps: Partial<MonitorDeps> = {}): Promise<string> => {
    const { url, close } = await monitor.open({
      listen: { host: '127.0.0.1', port: 0 },
      out: join(folder, 'batches'),
      checks: {
        workers: async () => {
          if (wrong !== undefined) throw new Error(wrong);
        },
      },
      recent: async () => ({ batches: [], isComplete: true }),
      summaryOf: async () => undefined,
      log: pino({ level: 'silent' }),
      ...deps,
    });
    closers.push(close);
    return url;
  };

  it.each([{ host: 'evil.example' }, { origin: 'http://evil.example' }])(
    'shows nothing to a page of another site: %o',
    async (headers) => {
      const clientRequest = request(`${await open()}/metrics`, { headers }).end();
      const [{ statusCode }] = (await once(clientRequest, 'response')) as [IncomingMessage];
      expect(statusCode).toBe(403);
    },
  );

  it('is ready while every check passes, and names the one that does not', async () => {
    const url = await open();
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { ready: true, checks: { workers: 'ok', out: 'ok' } },
    ]);
    wrong = 'the workers are draining';
    const secondUrl = await open();
    const failing = await fetch(`${secondUrl}/readyz`);
    expect([failing.status, await failing.json()]).toEqual([
      503,
      { ready: false, checks: { workers: 'the workers are draining', out: 'ok' } },
    ]);
    const samples = samplesIn(await (await fetch(`${secondUrl}/metrics`)).text());
    expect(valueOf(samples, 'runsheet_worker_ready')).toBe(0);
    expect(valueOf(samples, 'runsheet_worker_check', { check: 'workers' })).toBe(0);
    expect(valueOf(samples, 'runsheet_worker_check', { check: 'out' })).toBe(1);
  });

  it('is alive although it is not ready', async () => {
    wrong = 'the workers are draining';
    const answer = await fetch(`${await open()}/healthz`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  });

  it('shows metrics in the format of Prometheus while Temporal and its core are away', async () => {
    const url = await open({
      recent: async () => {
        throw new Error('away');
      },
    });
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const samples = samplesIn(await answer.text());
    expect(valueOf(samples, 'runsheet_batches_read_timestamp_seconds')).toBe(0);
    expect(valueOf(samples, 'runsheet_out_free_bytes')).toBeGreaterThan(0);
    expect(valueOf(samples, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  });

  it('answers nothing else, and takes no other method', async () => {
    const url = await open();
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('names the setting if its port is in use', async () => {
    const port = Number(new URL(await open()).port);
    await expect(open({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'E602',
      hint: expect.stringContaining('RUNSHEET_METRICS'),
    });
  });
});

describe('a check', () => {
  it('that never ends is a failed one', async () => {
    const never = watchReadiness({ temporal: () => new Promise<never>(() => undefined) });
    expect(await never()).toEqual({ isReady: false, checks: { temporal: 'no answer within 3 s' } });
  });

  it('that throws says why', async () => {
    const failing = watchReadiness({
      temporal: async () => {
        throw new Error('connection refused');
      },
    });
    expect((await failing()).checks).toEqual({ temporal: 'connection refused' });
  });

  it('is done once for questions within a second', async () => {
    let done = 0;
    const readiness = watchReadiness({ temporal: async () => void (done += 1) });
    await Promise.all([readiness(), readiness()]);
    await readiness();
    expect(done).toBe(1);
  });

  it('of batches in S3 fails if they cannot be reached', async () => {
    takeS3Settings({});
    await expect(checkPlace('s3://bucket')).rejects.toMatchObject({ code: 'E612' });
  });

  it.skipIf(process.geteuid?.() === 0)(
    'of the batches folder fails if nothing can be written there',
    async () => {
      const folder = freshFolder();
      chmodSync(folder, 0o500);
      await expect(checkPlace(join(folder, 'batches'))).rejects.toThrow(/EACCES/);
    },
  );
});
