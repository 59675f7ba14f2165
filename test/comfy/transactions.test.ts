// Each transaction waits for the disk, and nothing else happens meanwhile: many servers with short runs would idle.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openOwn, portrait, type OwnService } from './own-service.ts';

/** How many transactions the log of the database has: the last page of each says how large it became. */
function transactionsOf({ files }: OwnService): number {
  const log = readFileSync(files.replace(/\.files$/, '-wal'));
  const frame = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frame <= log.length; at += frame) commits += Number(log.readUInt32BE(at + 4) > 0);
  return commits;
}

const RUNS = 8;

it('the end of a run and the place of the next one are one transaction', async () => {
  const { gpu, own } = await openOwn(portrait({ seconds: 3_600 }));
  const ids: string[] = [];
  for (let at = 0; at < RUNS; at += 1) ids.push(await own.queue({ prompt: `fox ${at}` }));
  await own.until(ids[0] ?? '', ({ status }) => status === 'running');
  const before = transactionsOf(own);
  for (const id of ids) {
    await own.until(id, ({ status }) => status === 'running');
    gpu.wake();
    expect((await own.until(id)).status).toBe('success');
  }
  await until(() => gpu.executions.length === RUNS, 'all were executed');
  // Accepted, running, made, ended.
  expect((transactionsOf(own) - before) / RUNS).toBeLessThanOrEqual(4);
});
