// Compares the rows of a sheet with those of a batch, by key. A temporary SQLite database holds the comparison, because a million
// rows do not fit in memory.
//
//   new      the batch has no such key: the row is appended
//   same     inputs and GPU are those of the batch's sheet, or of the last request for the row: the row is left out
//   changed  inputs or GPU differ, and the row did not succeed: the row is sent again
//   unread   the row of the sheet cannot be read (`invalid: 'skip'`): the batch keeps what it has
//   taken    inputs or GPU differ, but the row succeeded, is unknown, or has no outcome yet: the sheet is refused
//
// Saving a watched sheet (run --watch) is an explicit request. Each row is compared with the last save of the sheet, and with the last
// request for the row: a retry may have had other inputs, and does not change the sheet. A changed row with any outcome is sent again.
// A changed row without an outcome waits for it:
//
//   waiting  the inputs differ, and the row has no outcome yet: the row is sent again once it has one
//   absent   the sheet no longer has this row of the batch

import { DatabaseSync } from 'node:sqlite';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { recordOf } from '../../results/batch-rows.ts';
import { canonical } from '../../host/formats/canonical-json.ts';
import { readPage, type SheetRow } from '../../sheet/pages.ts';
import { contentKey } from '../../sheet/row-keys.ts';
import { type Queued } from '../../sheet/placed-rows.ts';
import { changedInputs, type InputChange } from '../../sheet/input-change.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Store } from '../../store/store.ts';
import { byFields, type SheetInput } from '../../sheet/named-inputs.ts';
import { expiredFile } from '../../service-client/address-expiry.ts';
import { requestHash } from '../request-hash.ts';
import { readStanding, type StandingRow } from '../standing-rows.ts';
import { DELETED, isLeftOut } from '../watched/left-out.ts';
import { sheetPlaces, type SheetPlaces } from '../watched/sheet-places.ts';

export type DraftRows = {
  readonly layout: Store;
  readonly pages: number;
  readonly inputs: readonly SheetInput[];
};

/** A row of the batch that the sheet cannot change; `outcome` is `open` if the row has none yet. */
export type TakenRow = { readonly row: number; readonly key: string; readonly outcome: string };

const TABLES = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; BEGIN;
  CREATE TABLE rows (row INTEGER PRIMARY KEY, key TEXT UNIQUE, line TEXT, kind TEXT DEFAULT 'new', number INTEGER, queued TEXT);
`;

/** The rows of the sheet, each with one of the kinds above. */
export class Comparison implements Disposable {
  readonly pass: number;
  /** The places that sheets of the batch asked for, without those of retries. */
  readonly places: SheetPlaces['places'];
  readonly taken: TakenRow[] = [];
  /** The rows of the batch that the sheet does not have. */
  readonly absent = new Set<number>();
  /** The request hash that the sheet wants now, by row without an outcome, if it differs from the last request. */
  readonly wishes = new Map<number, string>();
  /** The request hash that the sheet wants, by row that is sent again now. */
  readonly again = new Map<number, string>();
  /** Rows that are left out; `sameFailed` counts the unsuccessful ones among them. */
  same = 0;
  sameFailed = 0;
  appended = 0;
  changed = 0;
  /** Rows to send, by GPU; '' for rows that name none. */
  readonly gpus: Record<string, number> = {};
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #find;

  constructor(pass: number, places: SheetPlaces['places']) {
    [this.pass, this.places] = [pass, places];
    this.#database.exec(TABLES);
    this.#find = this.#database.prepare('SELECT kind, number, queued FROM rows WHERE row = ?');
  }

  async read({ layout, pages }: DraftRows): Promise<void> {
    const insert = this.#database.prepare('INSERT INTO rows (row, key, line) VALUES (?, ?, ?)');
    for (let page = 1; page <= pages; page += 1)
      for (const row of await readPage(layout, page)) {
        insert.run(row.row, row.key, JSON.stringify(row));
        if (row.refused !== undefined) this.set(row.row, 'unread');
      }
  }

  rowWith(key: string): SheetRow | undefined {
    this.#byKey ??= this.#database.prepare('SELECT line FROM rows WHERE key = ?');
    const record = this.#byKey.get(key);
    return record && (parseExactly(String(record['line'])) as SheetRow);
  }
  #byKey: ReturnType<DatabaseSync['prepare']> | undefined;

  set(row: number, kind: 'same' | 'changed' | 'waiting' | 'unread', queued?: Queued): void {
    this.#set ??= this.#database.prepare('UPDATE rows SET kind = ?, queued = ? WHERE row = ?');
    this.#set.run(kind, queued === undefined ? null : JSON.stringify(queued), row);
  }
  #set: ReturnType<DatabaseSync['prepare']> | undefined;

  /** Numbers the new rows, after the `rows` of the batch. */
  number(rows: number): void {
    this.#database.exec(`
      CREATE TABLE numbered AS SELECT row, ${rows} + row_number() OVER (ORDER BY row) AS number FROM rows WHERE kind = 'new';
      CREATE UNIQUE INDEX by_row ON numbered (row);
      UPDATE rows SET number = (SELECT number FROM numbered WHERE numbered.row = rows.row) WHERE kind = 'new';
    `);
    const count = this.#database.prepare('SELECT count(*) AS rows FROM rows WHERE kind = ?');
    this.appended = Number(count.get('new')?.['rows']);
    this.changed = Number(count.get('changed')?.['rows']);
    for (const { line } of this.#database
      .prepare("SELECT line FROM rows WHERE kind NOT IN ('same', 'unread')")
      .iterate()) {
      const { gpu = '' } = JSON.parse(String(line)) as SheetRow;
      this.gpus[gpu] = (this.gpus[gpu] ?? 0) + 1;
    }
  }

  /** The number that a new row of the sheet gets in the batch; undefined for other rows. */
  numberOf(row: number): number | undefined {
    const record = this.#find.get(row);
    return record?.['kind'] === 'new' ? Number(record['number']) : undefined;
  }

  /** How a changed row of the batch is sent again; undefined for other rows. */
  againOf(row: number): Queued | undefined {
    const record = this.#find.get(row);
    return record?.['kind'] === 'changed' ? (parseExactly(String(record['queued'])) as Queued) : undefined;
  }

  /** Notes that the sheet does not have this row of the batch. */
  leave(row: number, isOpen: boolean): void {
    this.absent.add(row);
    if (isOpen) this.wishes.set(row, DELETED);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The caller disposes of the comparison. */
export async function compareRows(
  batch: BatchFolder,
  draft: DraftRows,
  isSavedAgain = false,
): Promise<Comparison> {
  const standing = await readStanding(batch);
  const { places, changed } = await sheetPlaces(batch, standing.newest);
  const comparison = new Comparison(standing.newest + 1, places);
  try {
    await comparison.read(draft);
    let rows = 0;
    for await (const standingRow of standing.rows()) {
      rows += 1;
      const { row } = standingRow.row;
      const wanted =
        comparison.rowWith(standingRow.row.key) ?? rowByFields(comparison, standingRow.row, draft.inputs);
      const pair = { standingRow, isSavedAgain, bySheet: changed.get(row), sheetInputs: draft.inputs };
      if (wanted?.refused !== undefined) continue;
      if (wanted) compare(comparison, { ...pair, wanted }, batch.file);
      else if (isSavedAgain) comparison.leave(row, standingRow.isOpen);
    }
    comparison.number(rows);
    return comparison;
  } catch (error) {
    comparison[Symbol.dispose]();
    throw error;
  }
}

/** Finds the row of an older batch, whose content keys were made from the names of inputs instead of their fields. */
function rowByFields(
  comparison: Comparison,
  row: SheetRow,
  inputs: readonly SheetInput[],
): SheetRow | undefined {
  const key = keyByFields(row, inputs);
  return key === undefined ? undefined : comparison.rowWith(key);
}

/** The content key that a row would get today; undefined if its sheet gave it a key. */
export function keyByFields(
  { key, inputs, gpu }: Pick<SheetRow, 'key' | 'inputs' | 'gpu'>,
  sheetInputs: readonly SheetInput[],
): string | undefined {
  const [nth = ''] = /-\d+$/.exec(key) ?? [];
  if (key !== contentKey(canonical(inputs), gpu) + nth) return undefined;
  return contentKey(canonical(byFields(inputs, sheetInputs)), gpu) + nth;
}

type Pair = {
  readonly standingRow: StandingRow;
  readonly wanted: SheetRow;
  readonly isSavedAgain: boolean;
  /** The inputs of the compared sheet. */
  readonly sheetInputs: readonly SheetInput[];
  /** The last request for the row by a sheet after the first one. */
  readonly bySheet: Queued | undefined;
};

const FREE: ReadonlySet<string> = new Set(['failed', 'timed-out', 'cancelled', 'refused']);

function compare(comparison: Comparison, pair: Pair, file: BatchFile): void {
  const ownGpu = file.deployment.gpu;
  const { standingRow, wanted, isSavedAgain, bySheet, sheetInputs } = pair;
  const { row, record, sentAgain, isOpen } = standingRow;
  const { outcome, reason } = recordOf(standingRow, file);
  const request = requestHash(wanted.inputs, wanted.gpu ?? ownGpu);
  const last = sentAgain ?? { change: record?.change, gpu: record?.gpu_asked };
  const requests = [requestOf(row, last), isSavedAgain && bySheet ? requestOf(row, bySheet) : row].map(
    (has) => ({
      ...has,
      inputs: byFields(has.inputs, sheetInputs),
    }),
  );
  const isExpired = FREE.has(outcome) && hasOtherAddress(requests[0]?.inputs ?? {}, wanted.inputs);
  const isSame = !isExpired && requests.some((has) => requestHash(has.inputs, has.gpu ?? ownGpu) === request);
  if (isSame && (isOpen || !isSavedAgain || !isLeftOut(reason))) {
    comparison.same += 1;
    if (!isOpen && outcome !== 'succeeded') comparison.sameFailed += 1;
    comparison.set(wanted.row, 'same');
  } else if (wanted.gpu === undefined && ownGpu === undefined && row.gpu !== undefined)
    comparison.taken.push({ row: row.row, key: row.key, outcome: `${row.gpu} cannot be left out` });
  else if (isSavedAgain && isOpen) {
    comparison.wishes.set(row.row, request);
    comparison.set(wanted.row, 'waiting');
  } else if (isOpen || !(isSavedAgain || FREE.has(outcome)))
    comparison.taken.push({ row: row.row, key: row.key, outcome: isOpen ? 'open' : outcome });
  else {
    comparison.again.set(row.row, request);
    sendAgain(comparison, pair, ownGpu);
  }
}

/** Whether a file of the row has a new address by now: the old one has expired, or the service has lost the file. */
const hasOtherAddress = (own: SheetRow['inputs'], wanted: SheetRow['inputs']): boolean =>
  expiredFile(own) !== undefined ||
  Object.entries(wanted).some(
    ([input, value]) =>
      JSON.stringify(value) !== JSON.stringify(own[input]) &&
      requestHash({ [input]: value }, '') === requestHash({ [input]: own[input] }, ''),
  );

const requestOf = (
  row: SheetRow,
  { gpu = row.gpu, change }: { readonly gpu?: string | undefined; readonly change?: InputChange | undefined },
): Pick<SheetRow, 'gpu' | 'inputs'> => ({
  inputs: changedInputs(row.inputs, change),
  ...(gpu === undefined ? {} : { gpu }),
});

function sendAgain(
  comparison: Comparison,
  { standingRow: { row, part, folder }, wanted }: Pair,
  ownGpu: string | undefined,
): void {
  const gpu = wanted.gpu ?? ownGpu;
  comparison.set(wanted.row, 'changed', {
    row: row.row,
    ...(gpu === undefined || gpu === (row.gpu ?? ownGpu) ? {} : { gpu }),
    before: part ?? '',
    change: changeTo(row.inputs, wanted.inputs),
    ...(folder === '' ? {} : { in: folder }),
  });
}

function changeTo(own: SheetRow['inputs'], wanted: SheetRow['inputs']): InputChange {
  const set = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(own[name]) !== JSON.stringify(value),
  );
  const unset = Object.keys(own).filter((name) => !Object.hasOwn(wanted, name));
  return { set: Object.fromEntries(set), ...(unset.length === 0 ? {} : { unset }) };
}
