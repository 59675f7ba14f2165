import { describe, expect, it } from 'vitest';
import { runLogSchema, type LogLine } from '../../src/service-client/contract/run.ts';
import { failureIn } from '../../src/service-client/failure-reason.ts';
import { remembering } from '../../src/service-client/remembering.ts';
import { outcomeOf } from '../../src/service-client/run-outcome.ts';
import { runOf } from '../audit/lists.ts';

const line = (message: string, level: LogLine['level'] = 'error'): LogLine => ({ atMs: 0, level, message });

describe('the reason of a failed run', () => {
  it.each([
    ['out-of-memory', 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB'],
    ['out-of-memory', 'RuntimeError: CUDA error: CUDA_ERROR_OUT_OF_MEMORY'],
    ['validation', "Value not in list: ckpt_name: 'missing.safetensors' not in ['sd15.safetensors']"],
    ['validation', 'prompt_outputs_failed_validation'],
    ['cold-start', 'RuntimeError: failed to load model flux1-dev'],
    ['timeout', 'TimeoutError: the node timed out after 300 s'],
    ['infrastructure', 'requests.exceptions.ConnectionError: Connection reset by peer'],
    ['infrastructure', 'OSError: [Errno 28] No space left on device'],
    ['node-error', 'KeyError: positive'],
    ['unknown', 'something went wrong'],
  ])('%s is recognised in: %s', (kind, message) => {
    expect(failureIn([line(message)])).toEqual({ kind, reason: message });
  });

  it('is the last line of a traceback', () => {
    const traceback = 'Traceback (most recent call last):\n  File "nodes.py", line 3\nValueError: bad seed\n';
    expect(failureIn([line('Executing KSampler', 'info'), line(traceback)])).toEqual({
      kind: 'node-error',
      reason: 'ValueError: bad seed',
    });
  });

  it('keeps the kind of an earlier line that is more exact than the last one', () => {
    const lines = [line('CUDA out of memory'), line('RuntimeError: execution failed')];
    expect(failureIn(lines)).toEqual({ kind: 'out-of-memory', reason: 'RuntimeError: execution failed' });
  });

  it('is none where the log names no error', () => {
    expect(
      failureIn([line('Prompt executed', 'info'), line('{"payload":"Error"}', 'webhook')]),
    ).toBeUndefined();
    expect(failureIn([line(' \n')])).toBeUndefined();
  });
});

describe('a log', () => {
  it('of a service that sends other levels, or no times, is read', () => {
    const read = runLogSchema.parse([
      { timestamp: '2026-11-22T10:00:00Z', log: 'a', log_type: 'error', more: 1 },
      { log: null, log_type: 'debug' },
    ]);
    expect(read).toEqual([
      { atMs: Date.parse('2026-11-22T10:00:00Z'), level: 'error', message: 'a' },
      { atMs: 0, level: 'info', message: '' },
    ]);
  });

  const failed = { ...runOf({ place: 1 }), status: 'failed', endedAtMs: 5 } as const;
  const serviceWith = (getRunLog: () => Promise<readonly LogLine[] | undefined>) => {
    let reads = 0;
    const service = remembering({
      getRun: async () => failed,
      getRunLog: async () => {
        reads += 1;
        return getRunLog();
      },
    } as never);
    return { service, reads: () => reads };
  };

  it('is read once for each failed run, and gives its outcome a reason and a kind', async () => {
    const { service, reads } = serviceWith(async () => [line('CUDA out of memory')]);
    const run = await service.getRun(failed.id);
    await service.getRun(failed.id);
    expect(reads()).toBe(1);
    expect(run && outcomeOf(run)).toEqual({
      kind: 'ended',
      outcome: 'failed',
      reason: 'CUDA out of memory',
      failure: 'out-of-memory',
    });
  });

  it.each([
    ['cannot be read', () => Promise.reject(new Error('503'))],
    ['does not exist', () => Promise.resolve(undefined)],
  ])('that %s leaves the last live status as the reason', async (_, getRunLog) => {
    const { service } = serviceWith(getRunLog);
    const run = await service.getRun(failed.id);
    const outcome = run && outcomeOf({ ...run, liveStatus: 'Executing KSampler' });
    expect(outcome).toEqual({
      kind: 'ended',
      outcome: 'failed',
      reason: 'the run failed at: Executing KSampler',
    });
  });
});
