// The service's memory: one SQLite file with one row a run. Columns are named as the code names them, so that a row is
// what it reads like. All that is told to anyone (an answer, a webhook) is committed before it is told.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { problem, reasonOf } from '../errors.ts';
import type { Status } from '../run-service/contract/run.ts';
import { glancesOf, type Glance } from './glance.ts';
import type { Plan } from './plan.ts';

/** A run as it is stored. Times are milliseconds since 1970; the plan's are null until a container took the run. */
export type RunRow = {
  readonly number: number;
  readonly id: string;
  readonly deploymentId: string;
  /** JSON text, with every digit that was sent. */
  readonly inputs: string;
  readonly gpu: string;
  readonly webhook: string | null;
  readonly intermediate: 0 | 1;
  readonly status: Status;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly endedMs: number | null;
  readonly containerId: string | null;
  readonly outputs: number;
  /** Whose token queued it. */
  readonly owner: string;
} & { readonly [Field in keyof Plan]: Plan[Field] | null };

export type NewRun = Pick<
  RunRow,
  'id' | 'deploymentId' | 'inputs' | 'gpu' | 'webhook' | 'intermediate' | 'createdMs' | 'outputs' | 'owner'
>;

/** A run that has not ended, without its inputs: they may be large, and nothing that makes it live needs them. */
export type LiveRow = Omit<RunRow, 'inputs'>;

// `place` counts the runs of one deployment from 0 without gaps. No run is ever deleted, so that a page anywhere in the
// list is found by place, where OFFSET would walk over everything before it.
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
    outputs INTEGER NOT NULL,
    queuedMs INTEGER, startsMs INTEGER, runMs INTEGER, endsMs INTEGER, ending TEXT,
    owner TEXT NOT NULL DEFAULT 'user_local'
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS runOfDeployment ON run (deploymentId, place);
  CREATE INDEX IF NOT EXISTS runAlive ON run (number) WHERE endedMs IS NULL;
`;
const FORMAT = 2;

/** What an older file lacks. */
const SINCE_1 = "ALTER TABLE run ADD COLUMN owner TEXT NOT NULL DEFAULT 'user_local';";

export type Database = {
  /** Does `work` in one transaction; nothing of it stays when it throws. */
  readonly together: <Result>(work: () => Result) => Result;
  insert(run: NewRun): number;
  took(number: number, containerId: string, plan: Plan): void;
  reached(number: number, status: Status, atMs: number): void;
  ended(number: number, status: Status, endedMs: number, atMs: number): void;
  find(id: string): RunRow | undefined;
  /** The runs of a deployment that belong to an owner, newest first. */
  page(deploymentId: string, owner: string, limit: number, offset: number): readonly RunRow[];
  count(deploymentId: string, owner: string): number;
  /** How many runs are in each status. */
  byStatus(): Readonly<Record<string, number>>;
  /** GPU seconds that were sold, by GPU: from a run's container to its end. */
  sold(): Readonly<Record<string, number>>;
  /** Every run that has not ended, oldest first. */
  alive(): readonly LiveRow[];
  /** As {@link glancesOf}. */
  glance(busy: number, most: { readonly next: number; readonly ended: number }): Glance;
  close(): void;
};

/** Opens or creates the file; `:memory:` keeps nothing. Throws E602 when it is another's, newer, or no database. */
export function openDatabase(file: string): Database {
  const db = openFile(file);
  const counts = new Map<string, number>();
  const countOf = (deploymentId: string, owner = ''): number => counts.get(`${deploymentId} ${owner}`) ?? 0;
  const add = (deploymentId: string, owner: string, runs: number): void => {
    for (const name of ['', owner]) counts.set(`${deploymentId} ${name}`, countOf(deploymentId, name) + runs);
  };
  const counted = db.prepare(
    'SELECT deploymentId, owner, count(*) AS runs FROM run GROUP BY deploymentId, owner',
  );
  for (const { deploymentId, owner, runs } of rows<{ deploymentId: string; owner: string; runs: number }>(
    counted,
  ))
    add(deploymentId, owner, runs);
  const transaction = createTransaction(db);
  const write = writersOf(db, transaction.begin);
  const find = db.prepare('SELECT * FROM run WHERE id = ?');
  const page = db.prepare(
    'SELECT * FROM run WHERE deploymentId = ? AND place <= ? ORDER BY place DESC LIMIT ?',
  );
  // Where others have runs of the same deployment as well, places have gaps for each of them.
  const ownPage = db.prepare(
    'SELECT * FROM run WHERE deploymentId = ? AND owner = ? ORDER BY place DESC LIMIT ? OFFSET ?',
  );
  const byStatus = db.prepare('SELECT status AS name, count(*) AS total FROM run GROUP BY status');
  const sold = db.prepare(
    `SELECT gpu AS name, sum(endedMs - queuedMs) / 1000.0 AS total FROM run
     WHERE queuedMs IS NOT NULL AND endedMs IS NOT NULL GROUP BY gpu`,
  );
  const alive = db.prepare(
    `SELECT number, id, deploymentId, gpu, webhook, intermediate, status, createdMs, updatedMs, endedMs, containerId,
     outputs, owner, queuedMs, startsMs, runMs, endsMs, ending FROM run WHERE endedMs IS NULL ORDER BY number`,
  );
  return {
    together: transaction.together,
    ...write,
    insert(run) {
      const number = write.insert(run, countOf(run.deploymentId));
      add(run.deploymentId, run.owner, 1);
      return number;
    },
    find: (id) => find.get(id) as RunRow | undefined,
    page: (deploymentId, owner, limit, offset) =>
      countOf(deploymentId, owner) === countOf(deploymentId)
        ? rows<RunRow>(page, deploymentId, countOf(deploymentId) - 1 - offset, limit)
        : rows<RunRow>(ownPage, deploymentId, owner, limit, offset),
    count: countOf,
    byStatus: () => totals(byStatus),
    sold: () => totals(sold),
    alive: () => rows<LiveRow>(alive),
    glance: glancesOf(db),
    close: () => db.close(),
  };
}

const totals = (statement: StatementSync): Readonly<Record<string, number>> =>
  Object.fromEntries(
    rows<{ name: string; total: number }>(statement).map(({ name, total }) => [name, total]),
  );

const rows = <Row>(statement: StatementSync, ...values: (string | number)[]): Row[] =>
  statement.all(...values) as Row[];

function openFile(file: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file);
    // Exclusive, because two services on one file would run every run twice.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.exec('PRAGMA wal_autocheckpoint = 8000');
    const missing = formatOf(db) === 1 ? SINCE_1 : '';
    db.exec(`BEGIN; ${missing} ${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT`);
    return db;
  } catch (cause) {
    const what = `the database ${file} of the local run service cannot be used: ${reasonOf(cause)}`;
    throw problem('E602', { what, hint: 'stop the service that uses it, or give another file' }, { cause });
  }
}

function formatOf(db: DatabaseSync): number {
  const format = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (format > FORMAT) throw new Error(`it was written by a newer version (format ${format})`);
  return format;
}

/** A transaction begins with its first write, so that work which only reads costs nothing. */
function createTransaction(db: DatabaseSync): Pick<Database, 'together'> & { readonly begin: () => void } {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let depth = 0;
  return {
    begin() {
      if (depth > 0 && !db.isTransaction) begin.run();
    },
    together(work) {
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

function writersOf(db: DatabaseSync, begin: () => void) {
  const insert = db.prepare(
    `INSERT INTO run (id, deploymentId, place, inputs, gpu, webhook, intermediate, status, createdMs, updatedMs, outputs, owner)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'not-started', ?, ?, ?, ?)`,
  );
  const took = db.prepare(
    `UPDATE run SET status = 'queued', containerId = ?, queuedMs = ?, startsMs = ?, runMs = ?, endsMs = ?, ending = ?,
     updatedMs = ? WHERE number = ?`,
  );
  const reached = db.prepare('UPDATE run SET status = ?, updatedMs = ? WHERE number = ?');
  const ended = db.prepare('UPDATE run SET status = ?, endedMs = ?, updatedMs = ? WHERE number = ?');
  const write = (statement: StatementSync, ...values: (string | number | null)[]) => {
    begin();
    return statement.run(...values);
  };
  return {
    insert(run: NewRun, place: number): number {
      const { id, deploymentId, inputs, gpu, webhook, intermediate, createdMs, outputs, owner } = run;
      const done = write(
        insert,
        id,
        deploymentId,
        place,
        inputs,
        gpu,
        webhook,
        intermediate,
        createdMs,
        createdMs,
        outputs,
        owner,
      );
      return Number(done.lastInsertRowid);
    },
    took(number: number, containerId: string, plan: Plan): void {
      const { queuedMs, startsMs, runMs, endsMs, ending } = plan;
      write(took, containerId, queuedMs, startsMs, runMs, endsMs, ending, queuedMs, number);
    },
    reached(number: number, status: Status, atMs: number): void {
      write(reached, status, atMs, number);
    },
    ended(number: number, status: Status, endedMs: number, atMs: number): void {
      write(ended, status, endedMs, atMs, number);
    },
  };
}
