// The largest uploads.

import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { startProcess } from './service-process.ts';
import { costOfUnread, MB, upload } from './uploading.ts';

const pieces = (count: number): Buffer[] => Array.from({ length: count }, () => randomBytes(8 * MB));

it('an upload of 240 MB, and twenty downloads of it that nobody reads, cost no memory and block no answer', async () => {
  const running = await startProcess(join(freshFolder(), 'runs.db'), { name: 'd' });
  const { status, url } = await upload(running.url, pieces(30));
  expect(status).toBe(200);
  const { moreMb, slowestMs } = await costOfUnread(running, url, 20);
  expect(moreMb).toBeLessThan(150);
  expect(slowestMs).toBeLessThan(5_000);
});

it('an upload has at most 250 MB', async () => {
  const database = join(freshFolder(), 'runs.db');
  const running = await startProcess(database, { name: 'd' });
  expect(await upload(running.url, pieces(34))).toMatchObject({
    status: 413,
    detail: 'a file has at most 250 MiB here',
  });
  expect(readdirSync(`${database}.files/uploads`)).toEqual([]);
});
