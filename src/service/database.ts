// The service's storage: one SQLite file with one row per run. Columns have the same names as in the code. Everything is
// committed before it is visible in an answer or a webhook.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Status } from '../run-service/contract/statuses.ts';
import { openFile } from './database-file.ts';

/** A stored run. Times are milliseconds since 1970. */
export type NewRun = Pick<
  RunRow,
  | 'id'
  | 'deploymentId'
  | 'inputs'
  | 'gpu'
  | 'webhook'
  | 'intermediate'
  | 'createdMs'
  | 'owner'
  | 'faults'
  | 'servers'
  | 'timeLimitMs'
>;

/** A run that has not ended, without its inputs, which may be large and are not needed to execute it. */
export type LiveRow = Omit<RunRow, 'inputs'>;

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

/** A file that a client uploads; `bytes` is its length, and null until it has arrived. */
export type UploadRow = {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number | null;
  readonly uploadedMs: number;
};

/** A GPU server of the user's own. */
export type ServerRow = {
  readonly url: string;
  readonly kind: 'comfyui' | 'comfy-api';
  readonly gpu: string | null;
  /** Its headers, or the key of an API. */
  readonly headersFile: string | null;
  /** How many runs it executes at the same time, if its user said so. */
  readonly seats: number | null;
};

/** Opens or creates the file; `:memory:` stores nothing. Throws E602 if it is in use, of another version, or not a database. */
export function openDatabase(file: string) {
  const db = openFile(file);
  const sql = statementsOf(db);
  const counts = new Map<string, number>();
  const countOf = (deploymentId: string, owner = ''): number => counts.get(`${deploymentId} ${owner}`) ?? 0;
  const add = (deploymentId: string, owner: string, runs: number): void => {
    for (const name of ['', owner]) counts.set(`${deploymentId} ${name}`, countOf(deploymentId, name) + runs);
  };
  const counted = sql.all`SELECT deploymentId, owner, count(*) AS runs FROM run GROUP BY deploymentId, owner`;
  for (const { deploymentId, owner, runs } of rows<{ deploymentId: string; owner: string; runs: number }>(
    counted,
  ))
    add(deploymentId, owner, runs);
  let last = Number(sql.get`SELECT coalesce(max(number), 0) AS last FROM run`?.['last']);
  const transaction = createTransaction(db);
  const write = writersOf(sql, transaction.begin);
  return {
    /** Names the service at any of its addresses. */
    id: String(sql.get`SELECT id FROM service`?.['id']),
    together: transaction.together,
    ...write,
    nextNumber: () => last + 1,
    insert(run: NewRun): void {
      last = write.insert(run, countOf(run.deploymentId));
      add(run.deploymentId, run.owner, 1);
    },
    find: (id: string) => sql.get`SELECT * FROM run WHERE id = ${id}` as RunRow | undefined,
    /** The runs of a deployment that belong to an owner, newest first. */
    page: (deploymentId: string, owner: string, limit: number, offset: number): readonly RunRow[] => {
      const all = countOf(deploymentId);
      // If several owners have runs of the deployment, each owner's places have gaps.
      return rows<RunRow>(
        countOf(deploymentId, owner) === all
          ? sql.all`SELECT * FROM run WHERE deploymentId = ${deploymentId} AND place <= ${all - 1 - offset}
                    ORDER BY place DESC LIMIT ${limit}`
          : sql.all`SELECT * FROM run WHERE deploymentId = ${deploymentId} AND owner = ${owner}
                    ORDER BY place DESC LIMIT ${limit} OFFSET ${offset}`,
      );
    },
    count: countOf,
    byStatus: () => totals(sql.all`SELECT status AS name, count(*) AS total FROM run GROUP BY status`),
    /**
     * Billed GPU seconds by GPU: from the start of a run's container to the run's end. A run that lost its container was already billed
     * for it in lostMs.
     */
    sold: () =>
      totals(sql.all`
        SELECT gpu AS name, sum(lostMs + iif(endedMs IS NULL OR containerId IS NULL, 0, endedMs - coalesce(queuedMs, endedMs))) / 1000.0 AS total
        FROM run GROUP BY gpu HAVING total > 0`),
    ...ownGpusIn(db, sql),
    /** Every run that has not ended, oldest first. */
    alive: () =>
      rows<LiveRow>(sql.all`
        SELECT number, id, deploymentId, gpu, webhook, intermediate, status, createdMs, updatedMs, endedMs, containerId,
          owner, faults, lostMs, lostRuns, queuedMs, startedMs, state, servers, timeLimitMs FROM run WHERE endedMs IS NULL ORDER BY number`),
    dashboardRuns: dashboardQuery(sql),
    deliveriesOf: (run: number) =>
      rows<DeliveryRow>(sql.all`SELECT * FROM delivery WHERE run = ${run} ORDER BY rowid`),
    uploadOf: (id: string) => sql.get`SELECT * FROM upload WHERE id = ${id}` as UploadRow | undefined,
    wholeUploads: () =>
      rows<Pick<UploadRow, 'id' | 'owner' | 'bytes'>>(
        sql.all`SELECT id, owner, bytes FROM upload WHERE bytes IS NOT NULL`,
      ),
    forgetUpload: (id: string): void => void sql.run`DELETE FROM upload WHERE id = ${id}`,
    dropUploads: (beforeMs: number) => dropUploads(sql, beforeMs),
    close: () => db.close(),
  };
}
export type Database = ReturnType<typeof openDatabase>;

/** Prepares each statement once, by its place in the source. Node's own store of them keeps the file locked after the close. */
function statementsOf(db: DatabaseSync) {
  const prepared = new WeakMap<TemplateStringsArray, StatementSync>();
  const of = (strings: TemplateStringsArray): StatementSync => {
    const statement = prepared.get(strings) ?? db.prepare(strings.join('?'));
    prepared.set(strings, statement);
    return statement;
  };
  type Tag<Result> = (strings: TemplateStringsArray, ...values: readonly SQLInputValue[]) => Result;
  const get: Tag<ReturnType<StatementSync['get']>> = (strings, ...values) => of(strings).get(...values);
  const all: Tag<ReturnType<StatementSync['all']>> = (strings, ...values) => of(strings).all(...values);
  const run: Tag<ReturnType<StatementSync['run']>> = (strings, ...values) => of(strings).run(...values);
  return { get, all, run };
}

type Statements = ReturnType<typeof statementsOf>;
type Found = ReturnType<StatementSync['all']>;

const rows = <Row>(found: Found): Row[] => found as Row[];

const totals = (found: Found): Readonly<Record<string, number>> =>
  Object.fromEntries(rows<{ name: string; total: number }>(found).map(({ name, total }) => [name, total]));

function writersOf(sql: Statements, begin: () => void) {
  const write = (strings: TemplateStringsArray, ...values: SQLInputValue[]) => {
    begin();
    return sql.run(strings, ...values);
  };
  return {
    insert: ({ id, deploymentId, inputs, gpu, webhook, ...run }: NewRun, place: number): number =>
      Number(
        write`
          INSERT INTO run (id, deploymentId, place, inputs, gpu, webhook, intermediate, status, createdMs, updatedMs, owner, faults,
            servers, timeLimitMs)
          VALUES (${id}, ${deploymentId}, ${place}, ${inputs}, ${gpu}, ${webhook}, ${run.intermediate}, 'not-started',
            ${run.createdMs}, ${run.createdMs}, ${run.owner}, ${run.faults}, ${run.servers}, ${run.timeLimitMs})`
          .lastInsertRowid,
      ),
    /** Whether its status has changed: a run that moves from one queue to another is queued as before. */
    took(number: number, { place, state, queuedMs, atMs, gpu }: Taken): boolean {
      void write`
        UPDATE run SET containerId = ${place}, state = ${state}, queuedMs = ${queuedMs}, updatedMs = ${atMs}, gpu = ${gpu}
        WHERE number = ${number}`;
      return (
        write`UPDATE run SET status = 'queued' WHERE number = ${number} AND status <> 'queued'`.changes > 0
      );
    },
    /** It began to execute then; what was before was no start of a machine. */
    timed: (number: number, startedMs: number): void =>
      void write`UPDATE run SET queuedMs = ${startedMs}, startedMs = ${startedMs} WHERE number = ${number}`,
    keep: (number: number, state: string): void =>
      void write`UPDATE run SET state = ${state} WHERE number = ${number}`,
    /** `startedMs`: when it was started, if this is that moment. */
    reached: (number: number, status: Status, atMs: number, startedMs: number | null): void =>
      void write`
        UPDATE run SET status = ${status}, updatedMs = ${atMs}, startedMs = coalesce(${startedMs}, startedMs)
        WHERE number = ${number}`,
    ended: (number: number, status: Status, endedMs: number, atMs: number): void =>
      void write`
        UPDATE run SET status = ${status}, endedMs = ${endedMs}, updatedMs = ${atMs}
        WHERE number = ${number} AND endedMs IS NULL`,
    /** The run lost its container after `ranMs`, if it was `executed` there; it waits `again` if it gets another one. */
    lost(number: number, ranMs: number, again: boolean, executed: boolean): void {
      void write`
        UPDATE run SET containerId = NULL, lostMs = lostMs + ${ranMs}, lostRuns = lostRuns + ${Number(executed)}
        WHERE number = ${number}`;
      if (again)
        void write`UPDATE run SET queuedMs = NULL, startedMs = NULL, state = NULL WHERE number = ${number}`;
    },
    delivered(tries: readonly DeliveryRow[]): void {
      for (const { run, atMs, method, outcome, tookMs, body } of tries)
        void write`INSERT INTO delivery VALUES (${run}, ${atMs}, ${method}, ${outcome}, ${tookMs}, ${body})`;
    },
    /** Reserves a file, or says that it has arrived. */
    upload: ({ id, owner, name, type, bytes, uploadedMs }: UploadRow): void =>
      void write`INSERT OR REPLACE INTO upload VALUES (${id}, ${owner}, ${name}, ${type}, ${bytes}, ${uploadedMs})`,
  };
}

/** Deletes the rows of what was uploaded before, except what a run needs that has not ended. Returns them. */
function dropUploads(sql: Statements, beforeMs: number): readonly UploadRow[] {
  const old = rows<UploadRow>(sql.all`SELECT * FROM upload WHERE uploadedMs < ${beforeMs}`);
  if (old.length === 0) return [];
  const needed = new Set<string>();
  const alive = sql.all`SELECT inputs FROM run INDEXED BY runAlive WHERE endedMs IS NULL`;
  for (const row of alive as Iterable<{ inputs: string }>)
    for (const [, id = ''] of row.inputs.matchAll(UPLOAD)) needed.add(id);
  const dropped = old.filter(({ id }) => !needed.has(id));
  for (const { id } of dropped) void sql.run`DELETE FROM upload WHERE id = ${id}`;
  return dropped;
}
/** In the address of an upload. */
const UPLOAD = /\/files\/uploads\/([\w-]+)\//g;

/** The user's own GPU servers, and workflows as JSON, in the order in which they came. */
const ownGpusIn = (db: DatabaseSync, sql: Statements) => ({
  servers: () => rows<ServerRow>(sql.all`SELECT * FROM server ORDER BY rowid`),
  keepServer: ({ url, kind, gpu, headersFile, seats }: ServerRow): void =>
    void sql.run`
      INSERT INTO server (url, kind, gpu, headersFile, seats) VALUES (${url}, ${kind}, ${gpu}, ${headersFile}, ${seats})
      ON CONFLICT DO UPDATE SET gpu = excluded.gpu, headersFile = excluded.headersFile, seats = excluded.seats`,
  forgetServer(url: string): void {
    void sql.run`DELETE FROM server WHERE url = ${url}`;
    void sql.run`DELETE FROM serverName WHERE url = ${url}`;
  },
  /** The addresses of servers that are kept under another one. */
  serverNames: () =>
    new Map(
      rows<{ name: string; url: string }>(sql.all`SELECT name, url FROM serverName`).map(
        ({ name, url }) => [name, url] as const,
      ),
    ),
  nameServer: (name: string, url: string): void =>
    void sql.run`INSERT OR REPLACE INTO serverName VALUES (${name}, ${url})`,
  workflows: () =>
    rows<{ json: string }>(sql.all`SELECT json FROM workflow ORDER BY place`).map(({ json }) => json),
  keepWorkflow: (id: string, json: string): void =>
    void sql.run`
      INSERT OR REPLACE INTO workflow VALUES (${id}, ${json}, (SELECT coalesce(max(place), 0) + 1 FROM workflow))`,
  /** From now on, what is committed survives a loss of power: real machines act on it. */
  beDurable: () => db.exec('PRAGMA synchronous = FULL'),
});

/** `busy` is the number of active runs, with which the query can stop before it has read the whole queue. */
const dashboardQuery =
  (sql: Statements) =>
  (most: { readonly busy: number; readonly ended: number }, next: readonly number[]) => ({
    /** Oldest first. */
    atWork: rows<RunRow>(sql.all`
      SELECT * FROM run INDEXED BY runAlive WHERE endedMs IS NULL AND containerId IS NOT NULL AND status <> 'timeout' ORDER BY number LIMIT ${most.busy}`),
    next: next.flatMap(
      (number) => (sql.get`SELECT * FROM run WHERE number = ${number}` as RunRow | undefined) ?? [],
    ),
    /** The last one first. */
    ended: rows<RunRow>(sql.all`
      SELECT * FROM run INDEXED BY runOver WHERE endedMs IS NOT NULL OR status = 'timeout' ORDER BY updatedMs DESC, number DESC LIMIT ${most.ended}`),
    runs: Number(sql.get`SELECT max(number) AS number FROM run`?.['number'] ?? 0),
  });

/** A transaction starts with its first write, so that read-only work costs nothing. */
function createTransaction(db: DatabaseSync) {
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

/** A run in the database. */
export type RunRow = {
  readonly number: number;
  readonly id: string;
  readonly deploymentId: string;
  /** JSON text, with every digit of the request. */
  readonly inputs: string;
  readonly gpu: string;
  readonly webhook: string | null;
  readonly intermediate: 0 | 1;
  readonly status: Status;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** When it got its place, and when it was started there. */
  readonly queuedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly containerId: string | null;
  /** What its executor needs to go on with it; null until it has a place. */
  readonly state: string | null;
  /** The owner of the token that queued it. */
  readonly owner: string;
  /** The faults that the run names itself, separated by spaces. */
  readonly faults: string;
  /** Milliseconds in places that it lost. */
  readonly lostMs: number;
  /** How often it was executed in such a place. */
  readonly lostRuns: number;
  /** The addresses of the servers that may execute it, separated by spaces; empty: any server may. */
  readonly servers: string;
  /** For how long it may execute, if its request says so. */
  readonly timeLimitMs: number | null;
};
