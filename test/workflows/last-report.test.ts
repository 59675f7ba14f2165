// Commands that arrive while the last report of a batch to its pool is on its way.

import { expect, it } from 'vitest';
import { openPools } from '../../src/temporal/temporal-pools.ts';
import { until } from '../stage/stage.ts';
import { changedBundle } from './generations.ts';
import { refOf, rigFor, Script } from './rig.ts';

/** A release whose last report to a pool waits until the batch has received a `retry`. */
const withSlowLastReport = () =>
  changedBundle([
    [
      /async\(\)=>runtime\.signalPool\(pool,usage\)/,
      `async () => {
        if (usage.left) await runtime.condition(() => Reflect.has(globalThis, 'received'));
        return runtime.signalPool(pool, usage);
      }`,
    ],
    [
      /received\.signals\+=1;/,
      "received.signals += 1; if (event.type === 'retry') Reflect.set(globalThis, 'received', true);",
    ],
  ]);

const script = new Script();
const rig = rigFor(script, { hasWorker: false }, async ({ client, worker }) => {
  await worker(await withSlowLastReport());
  await openPools(() => client).set('gpus', { size: 2 });
});

it('a batch that has ended sends the rows of a pass that arrives before its pool knows, as a new member of the pool', async () => {
  const late = refOf('late');
  script.params.set('late', { pool: 'gpus' });
  script.passes.set('late', { segments: [{ lane: 0, first: 101, count: 1, isNew: true }], appended: 1 });
  await rig.batches.start(late);
  await until(async () => (await rig.batches.status(late)).progress?.state === 'finished', 'it has ended');
  expect(await rig.batches.retry(late, 2)).toMatchObject({ note: '1 row appended' });
  expect(await rig.result('late')).toMatchObject({ pass: 2, rows: 3, done: 3, state: 'finished' });
  expect(script.groups.get('late')?.at(-1)).toEqual([{ place: 101, attempt: 1 }]);
});
