// Many batches that end in a pool with many members, and whose users append a row a few milliseconds later.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { appendAfterEnd, makePool } from './last-report.ts';
import { openRig, Script, type Rig } from './rig.ts';

const BATCHES = 200;
/** So many are in the pool together. */
const MEMBERS = 150;

describe('passes that arrive 5 to 40 ms after the end of a batch', () => {
  const stage = new Stage();
  const script = new Script();
  let rig: Rig;

  beforeAll(async () => {
    rig = await openRig(stage, script);
    await makePool(rig, 2 * MEMBERS);
  });
  afterAll(async () => {
    await rig.close();
    await stage.close();
  });

  it(`are lost in none of ${BATCHES} batches of a pool with ${MEMBERS} members`, async () => {
    const names = Array.from({ length: BATCHES }, (_, at) => `b${at}`);
    const results: Awaited<ReturnType<typeof appendAfterEnd>>[] = [];
    await Promise.all(
      Array.from({ length: MEMBERS }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop())
          results.push(await appendAfterEnd(rig, script, name, 5 + (results.length % 8) * 5));
      }),
    );
    const taken = results.filter(({ isTaken }) => isTaken);
    expect(taken.length).toBeGreaterThan(BATCHES / 10);
    expect(taken.filter(({ isDone }) => !isDone)).toEqual([]);
  }, 600_000);
});
