// The SQLite file: its tables and transactions.

import { DatabaseSync } from 'node:sqlite';
import { problem, errorMessage } from '../errors/error.ts';

// `place` counts the runs of one deployment from 0 without gaps. Runs are never deleted, so any page of the list is found by
// place, whereas OFFSET would read everything before it. A delivery names its run by number: an index of random ids would
// write a page for each of them.
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
    lostMs INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS runOfDeployment ON run (deploymentId, place);
  CREATE INDEX IF NOT EXISTS runAlive ON run (number) WHERE endedMs IS NULL;
  CREATE TABLE IF NOT EXISTS delivery (
    run INTEGER NOT NULL, atMs INTEGER NOT NULL, method TEXT NOT NULL, outcome TEXT NOT NULL, tookMs INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS deliveryOfRun ON delivery (run);
  CREATE TABLE IF NOT EXISTS upload (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, bytes BLOB,
    uploadedMs INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS server (
    url TEXT PRIMARY KEY, kind TEXT NOT NULL, gpu TEXT, headersFile TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS workflow (id TEXT PRIMARY KEY, json TEXT NOT NULL, place INTEGER NOT NULL) STRICT;
`;

const FORMAT = 8;

/** Opens or creates the file. Throws E602 if it is in use, of another version, or not a database. */
export function openFile(file: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file);
    // Exclusive, because two services on one file would execute every run twice.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.exec('PRAGMA wal_autocheckpoint = 8000');
    assertFormat(db);
    db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT`);
    return db;
  } catch (cause) {
    const what = `the database ${file} of the local run service cannot be used: ${errorMessage(cause)}`;
    throw problem(
      'E602',
      { what, hint: 'stop the service that uses it, or name another file with --db' },
      { cause },
    );
  }
}

function assertFormat(db: DatabaseSync): void {
  const format = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (format !== 0 && format !== FORMAT)
    throw new Error(`it was written by another version (format ${format}, not ${FORMAT})`);
}

/** A transaction starts with its first write, so that read-only work costs nothing. */
export function createTransaction(db: DatabaseSync) {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let depth = 0;
  return {
    /** Starts the transaction if one is requested and not yet started. */
    begin(): void {
      if (depth > 0 && !db.isTransaction) begin.run();
    },
    together<Result>(work: () => Result): Result {
      depth++;
      try {
        const result = work();
        if (depth === 1 && db.isTransaction) commit.run();
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      } finally {
        depth--;
      }
    },
  };
}
