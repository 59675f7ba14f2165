// The SQLite file of the service: its tables, and the migration of files in earlier formats.

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage, problem } from '../errors/error.ts';
import { exactText, isRawNumber, parseExactly } from '../host/formats/exact-json.ts';

// `place` numbers the runs of one deployment from 0 without gaps. Runs are never deleted, so a page of the
// list is found by place, whereas OFFSET would read everything before it. A delivery refers to its run by
// number, because an index over random ids would write one page for each delivery.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS run (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    deploymentId TEXT NOT NULL,
    place INTEGER NOT NULL,
    inputs TEXT NOT NULL,
    gpu TEXT NOT NULL,
    webhook TEXT,
    intermediate INTEGER NOT NULL,
    status TEXT NOT NULL,
    createdMs INTEGER NOT NULL,
    updatedMs INTEGER NOT NULL,
    endedMs INTEGER,
    containerId TEXT,
    queuedMs INTEGER, startedMs INTEGER, state TEXT,
    owner TEXT NOT NULL DEFAULT 'user_local',
    faults TEXT NOT NULL DEFAULT '',
    lostMs INTEGER NOT NULL DEFAULT 0,
    lostRuns INTEGER NOT NULL DEFAULT 0,
    servers TEXT NOT NULL DEFAULT '',
    timeLimitMs INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS runOfDeployment ON run (deploymentId, place);
  CREATE INDEX IF NOT EXISTS runAlive ON run (number) WHERE endedMs IS NULL;
  CREATE INDEX IF NOT EXISTS runOver ON run (updatedMs, number) WHERE endedMs IS NOT NULL OR status = 'timeout';
  CREATE TABLE IF NOT EXISTS delivery (
    run INTEGER NOT NULL, atMs INTEGER NOT NULL, method TEXT NOT NULL, outcome TEXT NOT NULL, tookMs INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS deliveryOfRun ON delivery (run);
  CREATE TABLE IF NOT EXISTS upload (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, bytes INTEGER,
    uploadedMs INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS server (
    url TEXT PRIMARY KEY, kind TEXT NOT NULL, gpu TEXT, headersFile TEXT, seats INTEGER
  ) STRICT;
  CREATE TABLE IF NOT EXISTS serverName (name TEXT PRIMARY KEY, url TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS workflow (id TEXT PRIMARY KEY, json TEXT NOT NULL, place INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS service (id TEXT NOT NULL) STRICT;
  INSERT INTO service SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM service);
`;

const FORMAT = 11;

/** Opens or creates the file. Throws E602 if it is in use, of another version, or not a database. */
export function openFile(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') closeToOthers(file);
    const db = new DatabaseSync(file);
    // The lock is exclusive, because two services on one file would execute every run twice.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.exec('PRAGMA wal_autocheckpoint = 8000');
    db.exec('BEGIN');
    renew(db, file);
    db.exec(`${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT`);
    return db;
  } catch (cause) {
    const what = `the database ${file} of the local run service cannot be used: ${errorMessage(cause)}`;
    const hint =
      cause instanceof OtherFormat
        ? 'move the file away, or name another one with --db'
        : 'stop the service that uses it, or name another file with --db';
    throw problem('E602', { what, hint }, { cause });
  }
}

/** The folder beside the database with uploads and the files of runs. */
export const filesBeside = (file: string): string => `${file}.files`;
export const uploadsIn = (folder: string): string => join(folder, 'uploads');

/** SQLite creates its journals with the mode of the database. Journals of an earlier start may still be open to other users. */
function closeToOthers(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  for (const path of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`])
    if (existsSync(path)) chmodSync(path, 0o600);
}

/** Each step migrates a file from its format to the next one. */
const STEPS: Readonly<Record<number, (db: DatabaseSync, file: string) => void>> = {
  8(db) {
    db.exec(`
      ALTER TABLE run ADD COLUMN lostRuns INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE server ADD COLUMN seats INTEGER`);
    const keep = db.prepare('UPDATE workflow SET json = ? WHERE id = ?');
    for (const { id, json } of db.prepare('SELECT id, json FROM workflow').all())
      keep.run(withTextBounds(String(json)), String(id));
  },
  // Uploads move from the database into files.
  9(db, file) {
    const folder = uploadsIn(filesBeside(file));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const uploads = db.prepare('SELECT id, bytes FROM upload WHERE bytes IS NOT NULL').iterate();
    for (const { id, bytes } of uploads as Iterable<{ id: string; bytes: Uint8Array }>)
      writeFileSync(join(folder, id), bytes, { mode: 0o600, flush: true });
    db.exec(`
      ALTER TABLE upload RENAME TO uploadBefore; ${SCHEMA}
      INSERT INTO upload SELECT id, owner, name, type, length(bytes), uploadedMs FROM uploadBefore;
      DROP TABLE uploadBefore`);
  },
  10: (db) =>
    db.exec(`
      ALTER TABLE run ADD COLUMN servers TEXT NOT NULL DEFAULT '';
      ALTER TABLE run ADD COLUMN timeLimitMs INTEGER`),
};

class OtherFormat extends Error {
  override readonly name: string = 'OtherFormat';
}

function renew(db: DatabaseSync, file: string): void {
  const stored = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (stored === 0) return;
  for (let format = stored; format !== FORMAT; format += 1) {
    const step = STEPS[format];
    if (step === undefined)
      throw new OtherFormat(`it was written by another version (format ${stored}, not ${FORMAT})`);
    step(db, file);
  }
}

/** Since format 9, the bounds of an input are stored as text. */
function withTextBounds(json: string): string {
  const { inputs, ...workflow } = parseExactly(json) as { readonly inputs: readonly object[] };
  const text = ([name, value]: readonly [string, unknown]) =>
    [
      name,
      name === 'min' || name === 'max' ? (isRawNumber(value) ? value.rawJSON : String(value)) : value,
    ] as const;
  return exactText({
    ...workflow,
    inputs: inputs.map((input) => Object.fromEntries(Object.entries(input).map(text))),
  });
}
