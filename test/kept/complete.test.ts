// No kind of thing is kept without a test that reads it back.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/run-service/database.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { KINDS } from './kinds.ts';
import { PASSING, READERS } from './readers.ts';
import { COLUMNS } from './columns.ts';

const NAMES = new Set(KINDS.map(({ name }) => name));
/** The two that parse. */
const PARSERS = new Set(['src/host/formats/exact-json.ts', 'src/errors/outside-text.ts']);
const CALL = /(?<!function )\b(?:JSON\.parse|parseExactly|[a-zA-Z]*[jJ]sonIn)\(/g;

const callsIn = (file: string): number => [...readFileSync(file, 'utf8').matchAll(CALL)].length;
const isPassing = (what: string): boolean => PASSING.includes(what as never);

it('every file that parses JSON says what it reads: a kind with a test, or nothing that is kept', () => {
  const files = globSync('{src,activities,workflows}/**/*.{ts,tsx}').filter((file) => !PARSERS.has(file));
  const callsByFile = Object.fromEntries(
    files.flatMap((file) => {
      const calls = callsIn(file);
      const readers = READERS[file] ?? [];
      if (calls === 0) return [];
      // A further call of a file that reads nothing that is kept is seen when it reads another thing.
      const isForeign = readers.length > 0 && readers.every((what) => what === 'answer' || what === 'given');
      return [[file, isForeign ? readers.length : calls]];
    }),
  );
  expect(callsByFile).toEqual(
    Object.fromEntries(Object.entries(READERS).map(([file, readers]) => [file, readers.length])),
  );
  const unknown = Object.values(READERS)
    .flat()
    .filter((what) => !NAMES.has(what) && !isPassing(what));
  expect(unknown).toEqual([]);
});

it('every column of the database of the service belongs to a kind with a test', () => {
  const file = join(freshFolder(), 'runs.db');
  openDatabase(file).close();
  const database = new DatabaseSync(file, { readOnly: true });
  const columns = database
    .prepare(
      "SELECT m.name AS tableName, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'",
    )
    .all()
    .map(({ tableName, name }) => `${String(tableName)}.${String(name)}`);
  database.close();
  const claimed = Object.entries(COLUMNS).flatMap(([table, kinds]) =>
    Object.values(kinds).flatMap((names) => names.map((name) => `${table}.${name}`)),
  );
  expect(columns.toSorted()).toEqual(claimed.toSorted());
  const kinds = Object.values(COLUMNS).flatMap((table) => Object.keys(table));
  expect(kinds.filter((name) => !NAMES.has(name))).toEqual([]);
});
