// The service's storage: one SQLite file with one row per run. Columns have the names that the code uses.
// Every change is committed before an answer or a webhook shows it.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ServerKind } from '../options/facts/server-kind.ts';
import type { Status } from '../service-client/contract/statuses.ts';
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

/** A run that has not ended. It lacks the inputs, which may be large and which execution does not need here. */
export type LiveRow = Omit<RunRow, 'inputs'>;

/** The place that a run got. */
type Taken = {
  readonly place: string;
  readonly state: string;
  readonly atMs: number;
  /** When a machine took the run; null while the run waits at its place. */
  readonly queuedMs: number | null;
  readonly gpu: string;
};

/** A delivery attempt of a webhook: its result and duration. */
export type DeliveryRow = {
  readonly run: number;
  readonly atMs: number;
  readonly method: string;
  readonly outcome: string;
  readonly tookMs: number;
  readonly body: string;
};

/** A file that a client uploads. `bytes` is its length, or null until the file has arrived. */
export type UploadRow = {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number | null;
  readonly uploadedMs: number;
};

/** A GPU server of the user. */
export type ServerRow = {
  readonly url: string;
  readonly kind: ServerKind;
  readonly gpu: string | null;
  /** The file with the server's headers or with the key of an API. */
  readonly headersFile: string | null;
  /** How many runs the server executes at the same time, if the user set it. */
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
    /** Identifies the service at any of its addresses. */
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
      const total = countOf(deploymentId);
      // If several owners have runs of the deployment, the places of each owner have gaps.
      return rows<RunRow>(
        countOf(deploymentId, owner) === total
          ? sql.all`SELECT * FROM run WHERE deploymentId = ${deploymentId} AND place <= ${total - 1 - offset}
                    ORDER BY place DESC LIMIT ${limit}`
          : sql.all`SELECT * FROM run WHERE deploymentId = ${deploymentId} AND owner = ${owner}
                    ORDER BY place DESC LIMIT ${limit} OFFSET ${offset}`,
      );
    },
    count: countOf,
    byStatus: () => totals(sql.all`SELECT status AS name, count(*) AS total FROM run GROUP BY status`),
    /**
     * Billed GPU seconds by GPU, from the start of a run's container to the end of the run. Time in lost
     * containers was already billed in lostMs.
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

/** Prepares each statement once, keyed by its place in the source. Node's own statement store keeps the file locked after the close. */
function statementsOf(db: DatabaseSync) {
  const prepared = new WeakMap<TemplateStringsArray, StatementSync>();
  const of = (strings: TemplateStringsArray): StatementSync => {
    const statement = prepared.get(strings) ?? db.prepare(strings.join('?'));
    prepared.set(strings, statement);
    return statement;
  };
  type Tag<Result> = (strings: TemplateStringsArray, ...values: readonly SQLInputValue[]) => Result;
  const get: Tag<ReturnType<StatementSync['get']>> = (strings, ...values) => of(strings).get(...values);
  const allRows: Tag<ReturnType<StatementSync['all']>> = (strings, ...values) => of(strings).all(...values);
  const run: Tag<ReturnType<StatementSync['run']>> = (strings, ...values) => of(strings).run(...values);
  return { get, all: allRows, run };
}

type Statements = ReturnType<typeof statementsOf>;
type SqlRecords = ReturnType<StatementSync['all']>;

const rows = <Row>(records: SqlRecords): Row[] => records as Row[];

const totals = (records: SqlRecords): Readonly<Record<string, number>> =>
  Object.fromEntries(rows<{ name: string; total: number }>(records).map(({ name, total }) => [name, total]));

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
    /** Returns whether the status changed: a run that moves between queues stays queued. */
    took(number: number, { place, state, queuedMs, atMs, gpu }: Taken): boolean {
      void write`
        UPDATE run SET containerId = ${place}, state = ${state}, queuedMs = ${queuedMs}, updatedMs = ${atMs}, gpu = ${gpu}
        WHERE number = ${number}`;
      return (
        write`UPDATE run SET status = 'queued' WHERE number = ${number} AND status <> 'queued'`.changes > 0
      );
    },
    /** The run began to execute at `startedMs`; the time before was not a machine boot. */
    timed: (number: number, startedMs: number): void =>
      void write`UPDATE run SET queuedMs = ${startedMs}, startedMs = ${startedMs} WHERE number = ${number}`,
    keep: (number: number, state: string): void =>
      void write`UPDATE run SET state = ${state} WHERE number = ${number}`,
    /** `startedMs` is set if the run started at this moment. */
    reached: (number: number, status: Status, atMs: number, startedMs: number | null): void =>
      void write`
        UPDATE run SET status = ${status}, updatedMs = ${atMs}, startedMs = coalesce(${startedMs}, startedMs)
        WHERE number = ${number}`,
    ended: (number: number, status: Status, endedMs: number, atMs: number): void =>
      void write`
        UPDATE run SET status = ${status}, endedMs = ${endedMs}, updatedMs = ${atMs}
        WHERE number = ${number} AND endedMs IS NULL`,
    /** The run lost its container after `ranMs`. `executed`: it executed there. `again`: it waits for another container. */
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
    /** Reserves a file, or records that it has arrived. */
    upload: ({ id, owner, name, type, bytes, uploadedMs }: UploadRow): void =>
      void write`INSERT OR REPLACE INTO upload VALUES (${id}, ${owner}, ${name}, ${type}, ${bytes}, ${uploadedMs})`,
  };
}

/** Deletes and returns the uploads from before `beforeMs`, except those that unfinished runs need. */
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
/** Matches the id in the address of an upload. */
const UPLOAD = /\/files\/uploads\/([\w-]+)\//g;

/** The user's GPU servers, and the workflows as JSON, in the order in which they were added. */
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
  /** Alternative addresses of servers that are stored under another address. */
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
  /** From now on, a commit survives a power loss, because real machines act on what is committed. */
  beDurable: () => db.exec('PRAGMA synchronous = FULL'),
});

/** `busy` is the number of active runs. The query stops there instead of reading the whole queue. */
const dashboardQuery =
  (sql: Statements) =>
  (most: { readonly busy: number; readonly ended: number }, next: readonly number[]) => ({
    /** Oldest first. */
    atWork: rows<RunRow>(sql.all`
      SELECT * FROM run INDEXED BY runAlive WHERE endedMs IS NULL AND containerId IS NOT NULL AND status <> 'timeout' ORDER BY number LIMIT ${most.busy}`),
    next: next.flatMap(
      (number) => (sql.get`SELECT * FROM run WHERE number = ${number}` as RunRow | undefined) ?? [],
    ),
    /** Most recently ended first. */
    ended: rows<RunRow>(sql.all`
      SELECT * FROM run INDEXED BY runOver WHERE endedMs IS NOT NULL OR status = 'timeout' ORDER BY updatedMs DESC, number DESC LIMIT ${most.ended}`),
    runs: Number(sql.get`SELECT max(number) AS number FROM run`?.['number'] ?? 0),
  });

/** A transaction begins with its first write, so that read-only work costs nothing. */
function createTransaction(db: DatabaseSync) {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let depth = 0;
  return {
    /** Begins the requested transaction unless it has begun. */
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

/** The stored form of a run. */
export type RunRow = {
  readonly number: number;
  readonly id: string;
  readonly deploymentId: string;
  /** JSON text that preserves every digit of the request. */
  readonly inputs: string;
  readonly gpu: string;
  readonly webhook: string | null;
  readonly intermediate: 0 | 1;
  readonly status: Status;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** When the run got its place. `startedMs`: when it started there. */
  readonly queuedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly containerId: string | null;
  /** The executor's state to resume the run from; null until the run has a place. */
  readonly state: string | null;
  /** The owner of the token that queued it. */
  readonly owner: string;
  /** The faults that the run itself asks for, separated by spaces. */
  readonly faults: string;
  /** Milliseconds spent in places that the run lost. */
  readonly lostMs: number;
  /** How often the run executed in a place that it lost. */
  readonly lostRuns: number;
  /** The addresses of the servers that may execute the run, separated by spaces; empty means any server. */
  readonly servers: string;
  /** The execution limit, if the request sets one. */
  readonly timeLimitMs: number | null;
};
