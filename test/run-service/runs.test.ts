import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';
import { mostAtOnce } from './at-once.ts';

describe('a run', () => {
  it('takes as long as its deployment says, divided by the speed', async () => {
    const { queue, ended, wire } = await openService({ coldStartSeconds: 8, runSeconds: 6 });
    const id = await queue();
    await ended(id);
    const run = await wire(id);
    expect([run['cold_start_duration'], run['run_duration']]).toEqual([0.08, 0.06]);
    expect(run['duration']).toBeCloseTo(Number(run['cold_start_duration_total']) + 0.06, 6);
  });

  it('shows its current step and updates updated_at while it runs', async () => {
    const { queue, until } = await openService({ coldStartSeconds: 0, runSeconds: 20 });
    const id = await queue();
    const sampling = await until(id, (run) => run.liveStatus === 'Executing KSampler');
    expect(sampling).toMatchObject({ status: 'running', progress: 0.57, outputs: [] });
  });

  it('takes a warm container of its gpu before a cold one', async () => {
    const { queue, ended, wire } = await openService({ concurrencyLimit: 2, idleTimeoutSeconds: 600 });
    const events: unknown[] = [];
    for (const gpu of ['T4', 'T4', 'H100', 'T4']) {
      const id = await queue({ gpu });
      await ended(id);
      const run = await wire(id);
      events.push(run['gpu_event_id']);
      expect(run['gpu']).toBe(gpu);
    }
    expect(events[1]).toBe(events[0]);
    expect(events[2]).not.toBe(events[0]);
    expect(events[3], 'there was room for both').toBe(events[0]);
  });

  it('is faster on a larger gpu, according to its deployment', async () => {
    const { queue, ended, wire } = await openService({ runSeconds: { default: 8, H100: 2 } });
    const [slow, fast] = [await queue({ gpu: 'T4' }), await queue({ gpu: 'H100' })];
    await Promise.all([ended(slow), ended(fast)]);
    expect((await wire(slow))['run_duration']).toBe(0.08);
    expect((await wire(fast))['run_duration']).toBe(0.02);
  });

  it('never runs beside more runs of its deployment than the limit allows', async () => {
    const { queue, ended } = await openService({ concurrencyLimit: 3, coldStartSeconds: 2, runSpread: 0.5 });
    const ids = await Promise.all(Array.from({ length: 25 }, () => queue()));
    const runs = await Promise.all(ids.map(ended));
    expect(mostAtOnce(runs)).toBe(3);
  });

  it('that times out during the boot of its container has no start time', async () => {
    const { queue, ended } = await openService({ runTimeoutSeconds: 5, coldStartSeconds: 60 });
    expect(await ended(await queue())).toMatchObject({
      status: 'timeout',
      startedAtMs: undefined,
      progress: 0,
    });
  });

  it('produces as many pictures as its deployment says', async () => {
    const { queue, ended } = await openService({ outputs: 3 });
    const { outputs } = await ended(await queue());
    expect(outputs[0]?.files.map((file) => file.filename)).toEqual(
      'picture-1.png picture-2.png picture-3.png'.split(' '),
    );
  });
});

describe('cancel', () => {
  const CANCELLED = { status: 'success', message: 'Function cancelled' };
  const slow = { concurrencyLimit: 1, coldStartSeconds: 3000, runSeconds: 3000 };

  it('ends a run in a container, which the next run in the queue then takes', async () => {
    const { queue, run, until, ask } = await openService(slow);
    const [first, second] = [await queue(), await queue()];
    expect((await run(first)).status).toBe('queued');
    expect((await ask('POST', `/api/run/${first}/cancel`)).json).toEqual(CANCELLED);
    expect(await run(first)).toMatchObject({ status: 'cancelled', startedAtMs: undefined });
    expect((await until(second, (seen) => seen.status !== 'not-started')).queuedAtMs).toBeDefined();
  });

  it('ends a running run, and keeps its progress', async () => {
    const { queue, run, until, ask } = await openService({ coldStartSeconds: 0, runSeconds: 100 });
    const id = await queue();
    await until(id, (seen) => seen.liveStatus === 'Executing KSampler');
    await ask('POST', `/api/run/${id}/cancel`);
    const end = await run(id);
    expect(end).toMatchObject({ status: 'cancelled', liveStatus: 'Executing KSampler', outputs: [] });
    expect(end.startedAtMs).toBeDefined();
  });
});
