// Every error of the embedded servers and of full disks is provoked, and each command that it prints is pasted into bash.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { diskCases, EMBEDDED, mountDisk, unmountDisk } from './cases/embedded.ts';
import { LARGE } from './cases/sheets.ts';
import { LongGround } from './long-ground.ts';
import { Recorded, recordOf } from '../printed/recorded.ts';
import { differences } from './provocation.ts';
import { openQuickGround } from './quick-ground.ts';

const ground = new LongGround();
const hasDisk = mountDisk(ground);

const recorded = new Recorded();

describe('what is printed with', () => {
  beforeAll(() => ground.open());
  afterEach(() => ground.killStarted());
  afterAll(async () => {
    unmountDisk(ground);
    await ground.close();
  });

  it.each(
    [...EMBEDDED, ...diskCases(hasDisk)].map((row) => [`${row.code}, because ${row.name},`, row] as const),
  )('%s leads on', async (_, row) => {
    expect(await differences(row, { ...ground.run(), recorded })).toBe('');
  });

  it.each(LARGE.map((row) => [`${row.code}, because ${row.name},`, row] as const))(
    '%s leads on',
    async (_, row) => {
      expect(await differences(row, { ...(await openQuickGround()), recorded })).toBe('');
    },
  );

  // Without a disk of its own some lines are missing.
  it.runIf(hasDisk)('is pasted line by line as before', async () => {
    await expect(recorded.text).toMatchFileSnapshot(recordOf('errors-embedded'));
  });
});
