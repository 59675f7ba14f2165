// A service in front of a GPU server whose database has 100,000 runs. Processor time is measured, which load does not change.

import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { cpuMs } from '../stage/cpu.ts';
import { openOwn, portrait, type OwnService } from './own-service.ts';

const RUNS = 100_000;
const QUEUED = 50;

/** Copies an ended run, so that each has its inputs, its log and its outputs. */
function fill(path: string, id: string): void {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  const names = database.prepare(
    "SELECT name FROM pragma_table_info('run') WHERE name NOT IN ('id', 'number', 'place')",
  );
  const columns = names
    .all()
    .map(({ name }) => String(name))
    .join(', ');
  const oneRun = `SELECT ${columns} FROM run WHERE id = '${id}'`;
  database.exec(`
    WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < ${RUNS})
    INSERT INTO run (id, place, ${columns}) SELECT printf('00000000-0000-4000-8000-%012d', n), n + (SELECT max(place) FROM run), one.* FROM copy, (${oneRun}) AS one`);
  database.close();
}

/** Processor time of a run that is queued, in ms; the server and the client are in this process too. */
async function msOfQueue(own: OwnService): Promise<number> {
  const startedAt = cpuMs();
  const queued: string[] = [];
  for (let at = 0; at < QUEUED; at += 1) queued.push(await own.queue({ prompt: `fox ${at}`, '3.seed': at }));
  const spentMs = cpuMs() - startedAt;
  await Promise.all(queued.map((id) => own.until(id)));
  return spentMs / QUEUED;
}

it('a service with 100,000 runs starts within two seconds, takes a run as quickly as an empty one, and keeps none in memory', async () => {
  const { gpu, own } = await openOwn();
  const first = await own.queue({ prompt: 'a fox', '3.seed': 1 });
  await own.until(first);
  await msOfQueue(own);
  const emptyMs = await msOfQueue(own);
  await own.close();
  fill(own.files.replace(/\.files$/, ''), first);
  const before = process.memoryUsage().heapUsed;
  const startedAt = cpuMs();
  await own.open();
  await own.add([gpu], portrait());
  expect(cpuMs() - startedAt).toBeLessThan(2_000);
  expect((await msOfQueue(own)) / emptyMs).toBeLessThan(1.5);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100e6);
});
