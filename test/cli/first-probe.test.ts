// The report of `resume` on a paused batch, with the cause of the pause gone and with the cause still there.

import { describe, expect, it } from 'vitest';
import { begin } from '../../src/batch/state/state.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { firstProbe, refusePaused } from '../../src/cli/batch/resume.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import { paramsOf } from '../batch/params.ts';

const state = () => begin(paramsOf({ rows: 3 }), WRITES, 1_000);
const RESUMED = progress(state());
const ACCEPTED: Progress = { ...RESUMED, ledger: { ...RESUMED.ledger, sent: 1, accepted: 1 } };
const BLOCKED = (() => {
  const paused = state();
  pause(paused, 'blocked', 'the service refuses the key (401)');
  return progress(paused);
})();
const FOUND = { batch: 'owls', file: {}, store: {} } as unknown as FoundBatch;

const probed = (each: readonly (Progress | Error)[], withinMs = 60_000): Promise<Progress> => {
  let at = 0;
  const read = async (): Promise<Progress | undefined> => {
    const reading = each[Math.min(at, each.length - 1)];
    at += 1;
    if (reading instanceof Error) throw reading;
    return reading;
  };
  return firstProbe(read, RESUMED, withinMs);
};

describe('the first probe after a resume', () => {
  it('is waited for, and a batch that is paused again is an error with its reason and the command that helps', async () => {
    const latest = await probed([RESUMED, new Error('away'), RESUMED, BLOCKED]);
    await expect(refusePaused(FOUND, latest)).rejects.toMatchObject({
      code: 'E501',
      exit: 8,
      message: expect.stringContaining('the service refuses the key (401)') as unknown,
      hint: expect.stringContaining('runsheet resume owls') as unknown,
    });
  });

  it('is over when the service has accepted a run, or nothing is left to send', async () => {
    const idle = { ...RESUMED, unsent: 0, running: 3 };
    for (const running of [ACCEPTED, idle]) {
      const latest = await probed([running, BLOCKED]);
      await expect(refusePaused(FOUND, latest)).resolves.toBeUndefined();
    }
  });

  it('is not waited for for ever', async () => {
    expect(await probed([RESUMED], 250)).toBe(RESUMED);
  });
});
