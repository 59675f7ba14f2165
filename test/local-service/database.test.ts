import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase, type Database, type NewRun } from '../../src/local-service/database.ts';
import { DEMO_DEPLOYMENTS } from '../../src/local-service/server.ts';
import { createService } from '../../src/local-service/service.ts';
import { present } from './asking.ts';

const run = (id: string, deploymentId = 'd'): NewRun => ({
  id,
  deploymentId,
  inputs: '{}',
  gpu: 'T4',
  webhook: null,
  intermediate: 0,
  createdMs: 1,
  outputs: 1,
});

function open(): Database {
  const database = openDatabase(':memory:');
  onTestFinished(() => database.close());
  return database;
}

describe('the database', () => {
  it('pages through the runs of each deployment by themselves, newest first', () => {
    const database = open();
    for (let n = 0; n < 6; n++) database.insert(run(`r${n}`, n % 2 === 0 ? 'even' : 'odd'));
    const ids = (limit: number, offset: number): string[] =>
      database.page('even', limit, offset).map(({ id }) => id);
    expect([ids(2, 0), ids(2, 2), ids(2, 4)]).toEqual([['r4', 'r2'], ['r0'], []]);
    expect([database.count('even'), database.count('other')]).toEqual([3, 0]);
  });

  it('keeps nothing of a transaction that throws, and all of one that does not', () => {
    const database = open();
    const failing = (): void =>
      database.together(() => {
        database.together(() => database.insert(run('a')));
        throw new Error('half way');
      });
    expect(failing).toThrow('half way');
    expect(database.find('a')).toBeUndefined();
    database.together(() => database.insert(run('b')));
    expect(database.find('b')).toMatchObject({ id: 'b', status: 'not-started', endedMs: null });
  });

  it('refuses a file of a newer format', () => {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-local-service-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'newer.db');
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(() => openDatabase(file)).toThrow('newer version (format 99)');
  });
});

it('a service whose database fails stops all time and takes no more runs', () => {
  const events: string[] = [];
  const service = createService({
    speed: 1,
    database: ':memory:',
    deployments: DEMO_DEPLOYMENTS,
    faults: {},
    seed: 1,
    log: (event) => events.push(event),
  });
  const spec = present(DEMO_DEPLOYMENTS[0]);
  const order = {
    deploymentId: spec.id,
    inputs: {},
    webhook: undefined,
    webhookIntermediateStatus: false,
    gpu: undefined,
    flags: [],
  };
  service.database.close();
  expect(() => service.runs.accept(order, spec)).toThrow('database');
  expect(() => service.runs.accept(order, spec)).toThrow('the service has stopped');
  expect(events).toEqual(['broken']);
});
