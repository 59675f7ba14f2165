import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';
import { openReceiver } from './receiver.ts';

const statuses = (received: readonly { body: Readonly<Record<string, unknown>> }[]): unknown[] =>
  received.filter(({ body }) => body['event_type'] === 'run.updated').map(({ body }) => body['status']);

describe('a run with a planned result', () => {
  it('that is preempted is queued again under its id, restarts in another container, and succeeds', async () => {
    const receiver = await openReceiver();
    const opened = await openService({ runSeconds: 40, coldStartSeconds: 1 }, { faults: { preempt: 1 } });
    const id = await opened.queue({ webhook: receiver.url });
    const first = await opened.until(id, (run) => run.status === 'running');
    const run = await opened.ended(id);
    expect(run.status).toBe('success');
    expect(Number(run.queuedAtMs)).toBeGreaterThan(Number(first.queuedAtMs));
    expect(run.runSeconds).toBe(0.4);
    await receiver.until((webhooks) => webhooks.length === 7);
    expect(statuses(receiver.received)).toEqual([
      'queued',
      'started',
      'running',
      'queued',
      'started',
      'running',
      'success',
    ]);
    const { json } = await opened.ask('GET', '/control/ledger');
    const sold = (json['sold'] as Record<string, number>)['A10G'] ?? 0;
    const { lost_executions, lost_duration } = await opened.wire(id);
    expect([lost_executions, lost_duration]).toEqual([1, expect.closeTo(0.01 + 0.2, 1)]);
    expect(sold, 'the lost half is sold too').toBeCloseTo(0.01 + 0.2 + 0.01 + 0.4, 1);
    expect(opened.service.stats().runs).toMatchObject({ busy: 0, waiting: 0 });
  });

  it('whose container is killed stays running without notice, and is shown as timed out after a day', async () => {
    // A day is 8.64 s / 100 at this speed; the run is killed 30 ms after its start.
    const receiver = await openReceiver();
    const opened = await openService(
      { runSeconds: 60, coldStartSeconds: 0, runTimeoutSeconds: 1e6, concurrencyLimit: 1 },
      { faults: { oom: 1 }, speed: 1e5 },
    );
    const id = await opened.queue({ webhook: receiver.url });
    await receiver.until((webhooks) => webhooks.length === 3);
    expect((await opened.run(id)).status).toBe('running');
    const next = await opened.queue();
    await opened.until(next, (run) => run.status === 'running');
    const stale = await opened.until(id, (run) => run.status === 'timeout');
    expect(stale.endedAtMs, 'it is only said so').toBeUndefined();
    expect(statuses(receiver.received)).toEqual(['queued', 'started', 'running']);
    await opened.ask('POST', `/api/run/${id}/cancel`);
    expect((await opened.run(id)).status).toBe('cancelled');
  });

  it('whose container dies while it boots stays queued', async () => {
    const opened = await openService({ coldStartSeconds: 5 }, { faults: { stuck: 1 } });
    const id = await opened.queue();
    await expect.poll(() => opened.service.stats().runs.busy).toBe(0);
    expect(await opened.run(id)).toMatchObject({ status: 'queued', startedAtMs: undefined });
  });

  it('that hangs is ended by its time-out', async () => {
    const opened = await openService({ runSeconds: 1, runTimeoutSeconds: 20 }, { faults: { hang: 1 } });
    const run = await opened.ended(await opened.queue());
    expect(run).toMatchObject({ status: 'timeout' });
    expect(Number(run.endedAtMs) - Number(run.queuedAtMs)).toBe(200);
  });

  it('fails on a GPU with too little memory, and not on a larger one', async () => {
    const opened = await openService({ runSeconds: 2, vramGb: 30 });
    expect((await opened.ended(await opened.queue({ gpu: 'T4' }))).status).toBe('failed');
    expect((await opened.ended(await opened.queue({ gpu: 'L40S' }))).status).toBe('success');
  });

  it('succeeds without a file, or shows its files late', async () => {
    const opened = await openService();
    const without = await opened.queue({ inputs: { runsheet_faults: 'no-output' } });
    expect((await opened.ended(without)).outputs).toEqual([]);
    const late = await opened.queue({ inputs: { runsheet_faults: 'late-output' } });
    expect((await opened.ended(late)).outputs).toEqual([]);
    await opened.until(late, (run) => run.outputs.length === 1);
  });

  it('names faults in an input, which affect only this run', async () => {
    const opened = await openService({ runSeconds: 1 });
    const [bad, good] = await Promise.all([
      opened.queue({ inputs: { runsheet_faults: 'fail, no-output' } }),
      opened.queue({ inputs: { n: 1 } }),
    ]);
    expect((await opened.ended(bad)).status).toBe('failed');
    expect((await opened.ended(good)).status).toBe('success');
    await expect(opened.queue({ inputs: { runsheet_faults: 'error-answer' } })).rejects.toThrow('500');
    await expect(opened.queue({ inputs: { runsheet_faults: 'fial' } })).rejects.toThrow(
      /422.*did you mean fail\?/,
    );
  });

  it('is two runs with the fault twin', async () => {
    const opened = await openService({}, { faults: { twin: 1 } });
    const id = await opened.queue({ webhook: 'http://runsheet.invalid/1' });
    const { json } = await opened.ask('GET', `/api/deployment/${opened.deploymentId}/runs`);
    const ids = (json['data'] as { id: string }[]).map((run) => run.id);
    expect([ids.length, ids.includes(id)]).toEqual([2, true]);
  });
});
