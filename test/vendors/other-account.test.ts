// A request whose answer was lost, and then the key of another account: what that account shows proves nothing.

import { beforeAll, expect, it } from 'vitest';
import type { Vendor } from '../../src/options/facts/server-kind.ts';
import type { AssignedRun } from '../../src/run-service/executors/driving/assigned-run.ts';
import { afterLostAnswer, guaranteeFor } from '../../src/run-service/executors/driving/resend-policy.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { OwnService } from '../comfy/own-service.ts';
import { until } from '../stage/stage.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';

const OPEN = { replicate: openReplicate, router: openRouter } as const;
const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, blockedMs: 50 };

beforeAll(() => void Object.assign(SUBMIT, { waitMs: 2_000 }));

/** A vendor that took a run for one key and lost the answer, and whose runs another key does not show. */
async function lost(vendor: keyof typeof OPEN & Vendor, when: 'before' | 'after') {
  const standIn = await OPEN[vendor]();
  const own = await OwnService.of([], undefined, TIMING);
  const add = (): Promise<string> =>
    own.addAny({
      servers: [{ url: standIn.url, kind: vendor, key: standIn.key }],
      models: [{ vendor, model: standIn.model, name: 'painter' }],
    });
  await add();
  standIn.lose('timeout', 1, when);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await until(() => standIn.posts() === 1, 'it is sent');
  await own.close();
  const runs = standIn.runs.splice(0);
  const key = standIn.key;
  const change = async (to: string): Promise<void> => {
    Object.assign(standIn, { key: to });
    await own.open();
    await add();
  };
  return { standIn, own, id, runs, key, change };
}

/** Sends a run with the new key that executes for many rounds, in which the lost one would be sent too. */
async function runsMeanwhile({ standIn, own }: Pick<Awaited<ReturnType<typeof lost>>, 'standIn' | 'own'>) {
  standIn.setDuration(MANY_ROUNDS_MS);
  let catId: string | undefined;
  // The service has to see first that it has a key.
  await until(async () => (catId = await own.queue({ prompt: 'cat', seed: 1 })) !== undefined, 'it is taken');
  expect((await own.until(catId ?? '')).status).toBe('success');
}

const MANY_ROUNDS_MS = 40 * TIMING.pollOnlyMs;

it.each(['replicate', 'router'] as const)(
  '%s: with the key of another account only other runs are sent, and with the earlier key the run is found',
  async (vendor) => {
    const { standIn, own, id, runs, key, change } = await lost(vendor, 'after');
    await change('key-of-another-account');
    await runsMeanwhile({ standIn, own });
    expect([standIn.posts(), (await own.run(id)).ended_at]).toEqual([2, null]);
    await own.close();
    standIn.runs.push(...runs);
    await change(key);
    expect((await own.until(id)).status).toBe('success');
    expect(standIn.executions().map(({ input }) => input['prompt'])).toEqual(['fox', 'cat']);
  },
);

it('a run that was never taken is not sent with the key of another account either', async () => {
  const { standIn, own, id, change } = await lost('replicate', 'before');
  await change('key-of-another-account');
  await runsMeanwhile({ standIn, own });
  expect([standIn.posts(), (await own.run(id)).ended_at]).toEqual([2, null]);
});

it('ends as unknown after an hour, with the reason', () => {
  const assigned = { task: { isPaid: true }, state: { account: 'a' } } as unknown as AssignedRun;
  const backend = { guarantee: { lost: 'same-key', ms: 1, provesAbsence: false, gone: 'again' } } as const;
  const guarantee = guaranteeFor({ ...backend, account: () => 'b' }, assigned);
  const facts = { unclear: 1, reason: 'x', absentForMs: 1e9, lateMs: 0, settledMs: 0 };
  expect(afterLostAnswer(guarantee, { ...facts, askedForMs: 3_599_999 })).toEqual({ kind: 'wait' });
  expect(afterLostAnswer(guarantee, { ...facts, askedForMs: 3_600_000 })).toEqual({
    kind: 'end-unknown',
    reason: expect.stringContaining('it was asked with the key of another account'),
  });
  for (const account of ['a', undefined])
    expect(guaranteeFor({ ...backend, account: () => account }, assigned).lost).toBe('same-key');
});
