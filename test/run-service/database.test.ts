import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase, type Database, type NewRun } from '../../src/run-service/database.ts';
import { createWallClock } from '../../src/run-service/service-time.ts';
import { DEMO_DEPLOYMENTS } from '../../src/run-service/server.ts';
import { openCaller } from '../../src/run-service/webhooks/webhooks.ts';
import { createService } from '../../src/run-service/service.ts';
import { present } from './asking.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const run = (id: string, deploymentId = 'd', owner = 'me'): NewRun => ({
  id,
  deploymentId,
  inputs: '{}',
  gpu: 'T4',
  webhook: null,
  intermediate: 0,
  createdMs: 1,
  owner,
  faults: '',
  servers: '',
  timeLimitMs: null,
});

/** A file as it was before a run could be executed again. */
const FORMAT_8 = `
  CREATE TABLE run (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, deploymentId TEXT NOT NULL, place INTEGER NOT NULL, inputs TEXT NOT NULL,
    gpu TEXT NOT NULL, webhook TEXT, intermediate INTEGER NOT NULL, status TEXT NOT NULL, createdMs INTEGER NOT NULL,
    updatedMs INTEGER NOT NULL, endedMs INTEGER, containerId TEXT, queuedMs INTEGER, startedMs INTEGER, state TEXT,
    owner TEXT NOT NULL DEFAULT 'user_local', faults TEXT NOT NULL DEFAULT '', lostMs INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE delivery (
    run INTEGER NOT NULL, atMs INTEGER NOT NULL, method TEXT NOT NULL, outcome TEXT NOT NULL, tookMs INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE upload (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, bytes BLOB, uploadedMs INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE server (url TEXT PRIMARY KEY, kind TEXT NOT NULL, gpu TEXT, headersFile TEXT) STRICT;
  CREATE TABLE workflow (id TEXT PRIMARY KEY, json TEXT NOT NULL, place INTEGER NOT NULL) STRICT;
  INSERT INTO run (id, deploymentId, place, inputs, gpu, intermediate, status, createdMs, updatedMs, lostMs)
    VALUES ('a', 'w', 0, '{"seed":1}', 'L4', 0, 'not-started', 1, 1, 7);
  INSERT INTO server VALUES ('http://gpu', 'comfyui', 'L4', NULL);
  INSERT INTO workflow VALUES ('w', '{"id":"w","inputs":[{"name":"seed","min":-9223372036854775807,"max":0.5,"default":18446744073709551615},{"name":"b"}]}', 1);
  PRAGMA user_version = 8`;

function open(): Database {
  const database = openDatabase(':memory:');
  onTestFinished(() => database.close());
  return database;
}

describe('the database', () => {
  it('pages through the runs of each deployment and of each owner separately, newest first', () => {
    const database = open();
    for (let n = 0; n < 8; n++)
      database.insert(run(`r${n}`, n % 2 === 0 ? 'even' : 'odd', n < 6 ? 'me' : 'you'));
    const ids = (owner: string, offset: number): string[] =>
      database.page('even', owner, 2, offset).map(({ id }) => id);
    expect([ids('me', 0), ids('me', 2), ids('me', 4), ids('you', 0)]).toEqual([
      ['r4', 'r2'],
      ['r0'],
      [],
      ['r6'],
    ]);
    expect([
      database.count('even', 'me'),
      database.count('even', 'you'),
      database.count('other', 'me'),
    ]).toEqual([3, 1, 0]);
  });

  it('rolls back a transaction that throws, and commits one that does not', () => {
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

  it('is readable by its user alone, with its journal, also if it was not before', () => {
    const file = join(freshFolder(), 'runs.db');
    const modes = (): readonly string[] =>
      [file, `${file}-wal`].map((path) => (statSync(path).mode & 0o777).toString(8));
    const before = process.umask(0o022);
    try {
      const first = openDatabase(file);
      first.insert(run('a'));
      expect(modes()).toEqual(['600', '600']);
      // A copy in the state in which a killed process of an earlier version leaves the file.
      cpSync(`${file}-wal`, `${file}-copy`);
      first.close();
      cpSync(`${file}-copy`, `${file}-wal`);
      for (const path of [file, `${file}-wal`]) chmodSync(path, 0o644);
      const second = openDatabase(file);
      second.insert(run('b'));
      expect(modes()).toEqual(['600', '600']);
      second.close();
    } finally {
      process.umask(before);
    }
  });

  it('refuses a file of another format', () => {
    const folder = freshFolder();
    const file = join(folder, 'newer.db');
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(() => openDatabase(file)).toThrow('another version (format 99');
  });

  it('goes on with a file of format 8, whose runs were never executed again and whose bounds become texts', () => {
    const file = join(freshFolder(), 'older.db');
    const older = new DatabaseSync(file);
    older.exec(FORMAT_8);
    older.close();
    for (const times of ['first', 'second']) {
      const database = openDatabase(file);
      expect(database.find('a'), times).toMatchObject({ inputs: '{"seed":1}', lostMs: 7, lostRuns: 0 });
      expect(database.servers()).toEqual([
        { url: 'http://gpu', kind: 'comfyui', gpu: 'L4', headersFile: null, seats: null },
      ]);
      expect(database.workflows()).toEqual([
        '{"id":"w","inputs":[{"name":"seed","min":"-9223372036854775807","max":"0.5","default":18446744073709551615},{"name":"b"}]}',
      ]);
      database.close();
    }
  });

  it('goes on with a file of format 9, whose uploads become files', () => {
    const file = join(freshFolder(), 'older.db');
    const older = new DatabaseSync(file);
    older.exec(`${FORMAT_8};
      ALTER TABLE run ADD COLUMN lostRuns INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE server ADD COLUMN seats INTEGER;
      INSERT INTO upload VALUES ('whole', 'ann', 'a.png', 'image/png', x'0102ff', 1),
        ('empty', 'ann', 'b.png', 'image/png', x'', 2), ('reserved', 'ben', 'c.png', 'image/png', NULL, 3);
      PRAGMA user_version = 9;`);
    older.close();
    for (const times of ['first', 'second']) {
      const database = openDatabase(file);
      expect(database.uploadOf('whole'), times).toEqual({
        id: 'whole',
        owner: 'ann',
        name: 'a.png',
        type: 'image/png',
        bytes: 3,
        uploadedMs: 1,
      });
      expect(['empty', 'reserved'].map((id) => database.uploadOf(id)?.bytes)).toEqual([0, null]);
      database.close();
    }
    const contents = readdirSync(`${file}.files/uploads`).map(
      (name) => `${name}: ${readFileSync(`${file}.files/uploads/${name}`, 'hex')}`,
    );
    expect(new Set(contents)).toEqual(new Set(['empty: ', 'whole: 0102ff']));
  });
});

it('a service whose database fails stops its clock and accepts no more runs', async () => {
  const events: string[] = [];
  const service = createService({
    speed: 1,
    database: ':memory:',
    deployments: DEMO_DEPLOYMENTS,
    faults: {},
    behaviour: 'specification',
    seed: 1,
    log: (event) => events.push(event),
    reach: 'here',
    keepFilesMs: 0,
    ownerUploadBytes: 0,
    outside: { clock: createWallClock, newId: () => randomUUID(), caller: openCaller({ anywhere: false }) },
  });
  const spec = present(DEMO_DEPLOYMENTS[0]);
  const order = {
    deploymentId: spec.id,
    inputs: {},
    webhook: undefined,
    webhookIntermediateStatus: false,
    gpu: undefined,
    flags: [],
    servers: [],
    runTimeoutSeconds: undefined,
  };
  service.database.close();
  await expect(service.runs.accept(order, spec, { owner: 'me' })).rejects.toThrow('database');
  await expect(service.runs.accept(order, spec, { owner: 'me' })).rejects.toThrow('the service has stopped');
  expect(events).toEqual(['broken']);
});
