// The service's storage: one SQLite file with one row per run. Columns have the same names as in the code. Everything is
// committed before it is visible in an answer or a webhook.

import type { RunRow } from './runs/run-row.ts';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { createTransaction, openFile } from './database-file.ts';
import type { Status } from '../run-service/contract/statuses.ts';

/** A stored run. Times are milliseconds since 1970. */
export type NewRun = Pick<
  RunRow,
  'id' | 'deploymentId' | 'inputs' | 'gpu' | 'webhook' | 'intermediate' | 'createdMs' | 'owner' | 'faults'
>;

/** A run that has not ended, without its inputs, which may be large and are not needed to execute it. */
type LiveRow = Omit<RunRow, 'inputs'>;

/** A run that has a place. */
type Taken = {
  readonly place: string;
  readonly state: string;
  readonly atMs: number;
  /** When a machine took it; null if it only waits for one there. */
  readonly queuedMs: number | null;
  readonly gpu: string;
};

/** One delivery attempt of a webhook: its result and duration. */
export type DeliveryRow = {
  readonly run: number;
  readonly atMs: number;
  readonly method: string;
  readonly outcome: string;
  readonly tookMs: number;
  readonly body: string;
};

/** A file that a client uploads; `bytes` is null until it has arrived. */
type UploadRow = {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array | null;
  readonly uploadedMs: number;
};

/** A GPU server of the user's own. */
export type ServerRow = {
  readonly url: string;
  readonly kind: 'comfyui' | 'comfy-api';
  readonly gpu: string | null;
  /** Its headers, or the key of an API. */
  readonly headersFile: string | null;
};

/** Opens or creates the file; `:memory:` stores nothing. Throws E602 if it is in use, of another version, or not a database. */
export function openDatabase(file: string) {
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
  let last = Number(db.prepare('SELECT coalesce(max(number), 0) AS last FROM run').get()?.['last']);
  const transaction = createTransaction(db);
  const write = writersOf(db, transaction.begin);
  const find = db.prepare('SELECT * FROM run WHERE id = ?');
  const page = db.prepare(
    'SELECT * FROM run WHERE deploymentId = ? AND place <= ? ORDER BY place DESC LIMIT ?',
  );
  // If several owners have runs of the deployment, each owner's places have gaps.
  const ownPage = db.prepare(
    'SELECT * FROM run WHERE deploymentId = ? AND owner = ? ORDER BY place DESC LIMIT ? OFFSET ?',
  );
  const byStatus = db.prepare('SELECT status AS name, count(*) AS total FROM run GROUP BY status');
  // A run that lost its container was already billed for it in lostMs.
  const sold = db.prepare(
    `SELECT gpu AS name, sum(lostMs + iif(endedMs IS NULL OR containerId IS NULL, 0, endedMs - coalesce(queuedMs, endedMs))) / 1000.0 AS total
     FROM run GROUP BY gpu HAVING total > 0`,
  );
  const deliveriesOf = db.prepare('SELECT * FROM delivery WHERE run = ? ORDER BY rowid');
  const uploadOf = db.prepare('SELECT * FROM upload WHERE id = ?');
  const alive = db.prepare(
    `SELECT number, id, deploymentId, gpu, webhook, intermediate, status, createdMs, updatedMs, endedMs, containerId,
     owner, faults, lostMs, queuedMs, startedMs, state FROM run WHERE endedMs IS NULL ORDER BY number`,
  );
  return {
    together: transaction.together,
    ...write,
    nextNumber: () => last + 1,
    insert(run: NewRun): void {
      last = write.insert(run, countOf(run.deploymentId));
      add(run.deploymentId, run.owner, 1);
    },
    find: (id: string) => find.get(id) as RunRow | undefined,
    /** The runs of a deployment that belong to an owner, newest first. */
    page: (deploymentId: string, owner: string, limit: number, offset: number): readonly RunRow[] =>
      countOf(deploymentId, owner) === countOf(deploymentId)
        ? rows<RunRow>(page, deploymentId, countOf(deploymentId) - 1 - offset, limit)
        : rows<RunRow>(ownPage, deploymentId, owner, limit, offset),
    count: countOf,
    byStatus: () => totals(byStatus),
    /** Billed GPU seconds by GPU: from the start of a run's container to the run's end. */
    sold: () => totals(sold),
    ...ownGpusIn(db),
    /** Every run that has not ended, oldest first. */
    alive: () => rows<LiveRow>(alive),
    dashboardRuns: dashboardQuery(db),
    deliveriesOf: (run: number) => rows<DeliveryRow>(deliveriesOf, run),
    uploadOf: (id: string) => uploadOf.get(id) as UploadRow | undefined,
    dropUploads: uploadsDropper(db),
    close: () => db.close(),
  };
}
export type Database = ReturnType<typeof openDatabase>;

const totals = (statement: StatementSync): Readonly<Record<string, number>> =>
  Object.fromEntries(
    rows<{ name: string; total: number }>(statement).map(({ name, total }) => [name, total]),
  );

const rows = <Row>(statement: StatementSync, ...values: (string | number)[]): Row[] =>
  statement.all(...values) as Row[];

function writersOf(db: DatabaseSync, begin: () => void) {
  const insert = db.prepare(
    `INSERT INTO run (id, deploymentId, place, inputs, gpu, webhook, intermediate, status, createdMs, updatedMs, owner, faults)
     VALUES ($id, $deploymentId, $place, $inputs, $gpu, $webhook, $intermediate, 'not-started', $createdMs, $createdMs, $owner, $faults)`,
  );
  const took = db.prepare(
    `UPDATE run SET status = 'queued', containerId = $place, state = $state, queuedMs = $queuedMs, updatedMs = $atMs, gpu = $gpu
     WHERE number = $number`,
  );
  const timed = db.prepare('UPDATE run SET queuedMs = ?, startedMs = ? WHERE number = ?');
  const keep = db.prepare('UPDATE run SET state = ? WHERE number = ?');
  const reached = db.prepare(
    'UPDATE run SET status = ?, updatedMs = ?, startedMs = coalesce(?, startedMs) WHERE number = ?',
  );
  const ended = db.prepare(
    'UPDATE run SET status = ?, endedMs = ?, updatedMs = ? WHERE number = ? AND endedMs IS NULL',
  );
  const lost = db.prepare('UPDATE run SET containerId = NULL, lostMs = lostMs + ? WHERE number = ?');
  const waits = db.prepare('UPDATE run SET queuedMs = NULL, startedMs = NULL, state = NULL WHERE number = ?');
  const delivered = db.prepare(
    'INSERT INTO delivery VALUES ($run, $atMs, $method, $outcome, $tookMs, $body)',
  );
  const upload = db.prepare(
    'INSERT OR REPLACE INTO upload VALUES ($id, $owner, $name, $type, $bytes, $uploadedMs)',
  );
  const write = (statement: StatementSync, ...values: (string | number | null)[]): void => {
    begin();
    statement.run(...values);
  };
  const writeNamed = (statement: StatementSync, values: Record<string, SQLInputValue>) => {
    begin();
    return statement.run(values);
  };
  return {
    insert: (run: NewRun, place: number): number =>
      Number(writeNamed(insert, { ...run, place }).lastInsertRowid),
    took: (number: number, taken: Taken): void => void writeNamed(took, { number, ...taken }),
    /** It began to execute then; what was before was no start of a machine. */
    timed: (number: number, startedMs: number): void => write(timed, startedMs, startedMs, number),
    keep: (number: number, state: string): void => write(keep, state, number),
    /** `startedMs`: when it was started, if this is that moment. */
    reached: (number: number, status: Status, atMs: number, startedMs: number | null): void =>
      write(reached, status, atMs, startedMs, number),
    ended: (number: number, status: Status, endedMs: number, atMs: number): void =>
      write(ended, status, endedMs, atMs, number),
    /** The run lost its container after `ranMs`; it waits `again` if it gets another one. */
    lost(number: number, ranMs: number, again: boolean): void {
      write(lost, ranMs, number);
      if (again) write(waits, number);
    },
    delivered(tries: readonly DeliveryRow[]): void {
      for (const row of tries) writeNamed(delivered, row);
    },
    /** Reserves a file, or stores its `bytes`. */
    upload: (file: UploadRow): void => void writeNamed(upload, file),
  };
}

/** Deletes files that were uploaded before, except those that a run needs which has not ended. */
function uploadsDropper(db: DatabaseSync) {
  const old = db.prepare('SELECT id FROM upload WHERE uploadedMs < ?');
  const inputs = db.prepare('SELECT inputs FROM run INDEXED BY runAlive WHERE endedMs IS NULL');
  const drop = db.prepare('DELETE FROM upload WHERE id = ?');
  return (beforeMs: number): void => {
    const ids = rows<{ id: string }>(old, beforeMs).map(({ id }) => id);
    if (ids.length === 0) return;
    const needed = new Set<string>();
    for (const row of inputs.iterate() as Iterable<{ inputs: string }>)
      for (const [, id = ''] of row.inputs.matchAll(UPLOAD)) needed.add(id);
    for (const id of ids) if (!needed.has(id)) drop.run(id);
  };
}
/** In the address of an upload. */
const UPLOAD = /\/files\/uploads\/([\w-]+)\//g;

/** The user's own GPU servers, and workflows as JSON, in the order in which they came. */
function ownGpusIn(db: DatabaseSync) {
  const servers = db.prepare('SELECT * FROM server ORDER BY rowid');
  const keepServer = db.prepare(
    'INSERT INTO server VALUES ($url, $kind, $gpu, $headersFile) ON CONFLICT DO UPDATE SET gpu = $gpu, headersFile = $headersFile',
  );
  const workflows = db.prepare('SELECT json FROM workflow ORDER BY place');
  const keepWorkflow = db.prepare(
    'INSERT OR REPLACE INTO workflow VALUES ($id, $json, (SELECT coalesce(max(place), 0) + 1 FROM workflow))',
  );
  return {
    servers: () => rows<ServerRow>(servers),
    keepServer: (server: ServerRow): void => void keepServer.run(server),
    workflows: () => rows<{ json: string }>(workflows).map(({ json }) => json),
    keepWorkflow: (id: string, json: string): void => void keepWorkflow.run({ id, json }),
    /** From now on, what is committed survives a loss of power: real machines act on it. */
    beDurable: () => db.exec('PRAGMA synchronous = FULL'),
  };
}

/** `busy` is the number of active runs, with which the query can stop before it has read the whole queue. */
function dashboardQuery(db: DatabaseSync) {
  const alive = 'SELECT * FROM run INDEXED BY runAlive WHERE endedMs IS NULL AND';
  const atWork = db.prepare(`${alive} containerId IS NOT NULL ORDER BY number LIMIT ?`);
  const waiting = db.prepare(`${alive} containerId IS NULL ORDER BY number LIMIT ?`);
  const ended = db.prepare(
    'SELECT * FROM run WHERE endedMs IS NOT NULL AND number <= ? ORDER BY number DESC LIMIT ?',
  );
  const newest = db.prepare('SELECT max(number) AS number FROM run');
  return (busy: number, most: { readonly next: number; readonly ended: number }) => {
    const runs = Number(newest.get()?.['number'] ?? 0);
    const working = atWork.all(busy) as RunRow[];
    const next = waiting.all(most.next) as RunRow[];
    // Of the runs queued after the last active one, only those cancelled in the queue have ended.
    const from = next.length === 0 ? runs : (working.at(-1)?.number ?? runs);
    return {
      /** Oldest first. */
      atWork: working,
      /** The first runs of the queue. */
      next,
      /** Newest first. */
      ended: ended.all(from, most.ended) as RunRow[],
      runs,
    };
  };
}
