// What a batch does with a command that arrives while its last report to the pool is on its way.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, until } from '../stage/stage.ts';
import { makePool, ONE_MORE, POOL, withSlowLastReport } from './last-report.ts';
import { openRig, refOf, Script, type Rig } from './rig.ts';

describe('a batch in a pool that has ended, and whose last report is on its way', () => {
  const stage = new Stage();
  const script = new Script();
  let rig: Rig;

  beforeAll(async () => {
    rig = await openRig(stage, script, false);
    await rig.worker(await withSlowLastReport());
    await makePool(rig, 2);
  });
  afterAll(async () => {
    await rig.close();
    await stage.close();
  });

  it('sends the rows of a pass that arrives meanwhile, as a new member of the pool', async () => {
    script.params.set('late', { pool: POOL });
    script.passes.set('late', ONE_MORE);
    await rig.batches.start(refOf('late'));
    await until(
      async () => (await rig.batches.status(refOf('late'))).progress?.state === 'finished',
      'it has ended',
    );
    expect(await rig.batches.retry(refOf('late'), 2)).toMatchObject({ note: '1 row appended' });
    expect(await rig.result('late')).toMatchObject({ pass: 2, rows: 3, done: 3, state: 'finished' });
    expect(script.groups.get('late')?.at(-1)).toEqual([{ place: 101, attempt: 1 }]);
  });
});
