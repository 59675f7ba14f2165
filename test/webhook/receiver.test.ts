import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import type { RunCompletion } from '../../src/batch/events.ts';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import type { Receiver } from '../../src/webhook/receiver.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { NAME, opened, SECRET } from './opened.ts';

describe('the receiver', () => {
  let receiver: Receiver;
  let runs: Map<string, Run>;
  let completions: RunCompletion[];
  let seen: AttemptRun[];
  let reads: number;
  let temporalIsAway: boolean;
  let answered: number[];
  let own: OwnRuns;
  let holds: number[];
  /** Settles when the signal of an end may return. */
  let released: Promise<void>;

  beforeEach(async () => {
    [runs, completions, seen, reads, temporalIsAway, answered] = [new Map(), [], [], 0, false, []];
    const signal = async <T>(into: T[], message: T): Promise<'taken'> => {
      if (temporalIsAway) throw new Error('Temporal is away');
      into.push(message);
      return 'taken';
    };
    [own, holds, released] = [new OwnRuns(), [], Promise.resolve()];
    receiver = await opened({
      getRun: async (_, runId) => {
        reads += 1;
        return runs.get(runId);
      },
      runEnded: async (_, completion, holdMs) => {
        holds.push(holdMs);
        await released;
        return signal(completions, completion);
      },
      runSeen: (_, run) => signal(seen, run),
      ownRuns: own,
      answered: (status) => answered.push(status),
    });
  });
  afterEach(() => receiver.close());

  /** The current state of a run; its own webhook address names an attempt. */
  const has = (status: string, webhook = webhookUrl(NAME, SECRET, receiver.url)): string => {
    const id = randomUUID();
    const endedAt = status === 'running' ? null : '2026-11-21T10:00:00Z';
    runs.set(id, runSchema.parse({ id, status, webhook, ended_at: endedAt, outputs: [] }));
    return id;
  };
  const hook = (
    runId: string,
    status: string,
    { method = 'POST', url = webhookUrl(NAME, SECRET, receiver.url), body = '' } = {},
  ): Promise<number> =>
    new Promise((done, failed) => {
      const text = body || JSON.stringify({ event_type: 'run.updated', run_id: runId, status });
      // Node sends the body of a GET only with a Content-Length.
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const sent = request(url, { method, headers }, (answer) => {
        answer.resume();
        done(answer.statusCode ?? 0);
      });
      sent.on('error', failed);
      sent.end(text);
    });

  it('signals the completion of a run that Get Run confirms', async () => {
    const runId = has('success');
    expect(await hook(runId, 'success')).toBe(200);
    expect(completions).toMatchObject([{ place: 7, attempt: 1, runId, outcome: 'succeeded' }]);
  });

  it('tells its observer the status of each answer, but not of health checks', async () => {
    await fetch(`${receiver.url}/healthz`);
    await hook(has('success'), 'success');
    await fetch(`${receiver.url}/nothing`);
    expect(answered).toEqual([200, 404]);
  });

  it('that is asked to end is not ready, and still signals completions', async () => {
    const isReady = async () => [(await fetch(`${receiver.url}/readyz`)).status, receiver.isReady()];
    expect(await isReady()).toEqual([200, true]);
    receiver.drain();
    expect(await isReady()).toEqual([503, false]);
    expect([await hook(has('success'), 'success'), completions.length]).toEqual([200, 1]);
  });

  it('accepts a GET with a body like a POST', async () => {
    const runId = has('failed');
    expect(await hook(runId, 'failed', { method: 'GET' })).toBe(200);
    expect(completions).toMatchObject([{ runId, outcome: 'failed' }]);
  });

  it('accepts a webhook of V1, which names no event', async () => {
    const runId = has('success');
    const body = JSON.stringify({ status: 'success', run_id: runId, outputs: [{ data: {} }] });
    expect(await hook('', '', { body })).toBe(200);
    expect(completions).toMatchObject([{ place: 7, attempt: 1, runId, outcome: 'succeeded' }]);
  });

  it('trusts Get Run and not the webhook', async () => {
    const runId = has('running');
    expect(await hook(runId, 'success')).toBe(200);
    expect(completions).toEqual([]);
  });

  it('does not call Get Run for a status that is not final', async () => {
    expect(await hook(has('running'), 'running')).toBe(200);
    expect(reads).toBe(0);
  });

  it('signals the same completion once, however often the webhook arrives', async () => {
    const runId = has('success');
    for (let time = 0; time < 3; time += 1) expect(await hook(runId, 'success')).toBe(200);
    expect(completions).toHaveLength(1);
    expect(reads).toBe(1);
  });

  it('answers 503, so that the service retries, while the service does not show the run yet', async () => {
    const runId = randomUUID();
    expect(await hook(runId, 'success')).toBe(503);
    runs.set(runId, { ...(runs.get(has('success')) as Run), id: runId });
    expect(await hook(runId, 'success')).toBe(200);
    expect(completions).toHaveLength(1);
  });

  it('ignores an answer of Get Run about another run', async () => {
    const [requested, stranger] = [randomUUID(), has('success')];
    runs.set(requested, runs.get(stranger) as Run);
    expect(await hook(requested, 'success')).toBe(200);
    expect(completions).toEqual([]);
  });

  it('signals once, after a delay, the run of an attempt that has not ended, if Get Run confirms it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const runId = has('running');
    await hook(runId, 'queued');
    await hook(runId, 'running');
    await hook(randomUUID(), 'running', { url: webhookUrl({ ...NAME, place: 8 }, SECRET, receiver.url) });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([{ place: 7, attempt: 1, runId }]);
    await hook(runId, 'uploading');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen).toHaveLength(1);
  });

  it('does not signal a run that this worker has started once Temporal knows it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const runId = has('running');
    own.accepted(NAME, runId, undefined);
    await hook(runId, 'queued');
    own.taken([runId]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([]);
  });

  describe('while runs of the batch wait for a machine', () => {
    /** A run that queued and ran for so many seconds. */
    const hasRun = (status: string, queueSeconds: number, runSeconds: number): string => {
      const id = has(status);
      const at = (seconds: number): string =>
        new Date(Date.UTC(2026, 10, 21) + seconds * 1_000).toISOString();
      const times = { created_at: at(0), queued_at: at(queueSeconds), started_at: at(queueSeconds) };
      const webhook = webhookUrl(NAME, SECRET, receiver.url);
      const ended = { ended_at: at(queueSeconds + runSeconds), outputs: [] };
      runs.set(id, runSchema.parse({ id, status, webhook, ...times, ...ended }));
      return id;
    };
    const lived = async (runId: string, status: string): Promise<unknown> => {
      await hook(runId, 'queued');
      return hook(runId, status);
    };
    beforeEach(async () => {
      for (let n = 0; n < 8; n += 1) await lived(hasRun('success', 1, 1), 'success');
      own.accepted(NAME, 'waits', undefined);
      completions.length = 0;
      holds.length = 0;
    });

    it('an end may wait for half the time for which its run queued or ran', async () => {
      await lived(hasRun('success', 4, 20), 'success');
      await lived(hasRun('success', 30, 6), 'success');
      await lived(hasRun('success', 3_600, 3_600), 'success');
      expect(holds).toEqual([2_000, 3_000, 10_000]);
    });

    it('a webhook is answered within a second, and its repetition and the poll leave the end alone', async () => {
      const signal = Promise.withResolvers<void>();
      released = signal.promise;
      const runId = hasRun('success', 10, 10);
      const startedAt = performance.now();
      expect(await lived(runId, 'success')).toBe(200);
      expect(performance.now() - startedAt).toBeGreaterThan(500);
      expect(await hook(runId, 'success')).toBe(200);
      expect(holds).toHaveLength(1);
      expect(completions).toEqual([]);
      signal.resolve();
      await vi.waitFor(() => expect(completions.map((completion) => completion.runId)).toEqual([runId]));
    });

    it('closing waits for the ends whose webhooks were answered', async () => {
      const signal = Promise.withResolvers<void>();
      released = signal.promise;
      expect(await lived(hasRun('success', 10, 10), 'success')).toBe(200);
      let isClosed = false;
      const closed = receiver.close().then(() => (isClosed = true));
      await vi.waitFor(() => expect(hook('another', 'success')).rejects.toThrow('ECONNREFUSED'));
      expect(isClosed).toBe(false);
      signal.resolve();
      await closed;
      expect(completions.length).toBe(1);
    });

    it('a run that failed is signalled immediately', async () => {
      await lived(hasRun('failed', 10, 10), 'failed');
      expect(holds).toEqual([0]);
    });

    it('an end that waited and could not be signalled is signalled at the next webhook', async () => {
      const runId = hasRun('success', 10, 10);
      temporalIsAway = true;
      expect(await lived(runId, 'success')).toBe(503);
      temporalIsAway = false;
      expect(await hook(runId, 'success')).toBe(200);
      expect(completions).toHaveLength(1);
    });

    it('no end waits once the last of them has a machine', async () => {
      own.started(NAME, 'waits');
      await lived(hasRun('success', 10, 10), 'success');
      expect(holds).toEqual([0]);
    });
  });

  it.each([
    ['another attempt', { attempt: 2 }],
    ['a batch with the same name and another birth mark', { mark: 'fedcba9876543210' }],
  ])('ignores a run of %s', async (_, change) => {
    const stranger = has('success', webhookUrl({ ...NAME, ...change }, SECRET, receiver.url));
    expect(await hook(stranger, 'success')).toBe(200);
    expect(completions).toEqual([]);
  });

  it.each([
    [404, 'a token with a wrong signature', () => webhookUrl(NAME, 'another', receiver.url)],
    [410, 'addresses of an earlier version', () => `${receiver.url}/hook/1/b/7/1/${'0'.repeat(32)}`],
  ])('answers %i for %s', async (status, _, url) => {
    expect(await hook(has('success'), 'success', { url: url() })).toBe(status);
    expect(reads).toBe(0);
  });

  it('answers 503 while Temporal is unreachable, and signals the completion at the retry', async () => {
    const runId = has('success');
    temporalIsAway = true;
    expect(await hook(runId, 'success')).toBe(503);
    temporalIsAway = false;
    expect(await hook(runId, 'success')).toBe(200);
    expect(completions).toHaveLength(1);
  });

  it.each([
    ['no JSON', 'nonsense', 400],
    ['no run id', '{"status":"success"}', 400],
    ['too long a body', `"${'x'.repeat(1 << 20)}"`, 413],
  ])('refuses a body with %s', async (_, body, status) => {
    expect(await hook('', '', { body })).toBe(status);
    expect(reads).toBe(0);
  });

  it('answers its health check, without a body as always', async () => {
    const { status, headers } = await fetch(`${receiver.url}/healthz`);
    expect([status, headers.get('content-length')]).toEqual([200, '0']);
  });
});
