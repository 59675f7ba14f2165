// E1xx and E2xx: what can be wrong with a sheet, and with what its rows ask for. Nothing was sent then.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list, saidThere } from './entry.ts';

const { inputRefused } = EXIT;

export const SHEET_ENTRIES = {
  E101: entry<{ path: string; near: readonly string[] }>(
    inputRefused,
    (f) => `there is no sheet at ${f.path}`,
    (f) => (f.near.length > 0 ? `files like it: ${list(f.near)}` : undefined),
  ),
  E102: saidThere(inputRefused),
  E103: saidThere(inputRefused),
  E104: saidThere(inputRefused),
  E105: entry<{ key: string; row: number; firstRow: number }>(
    inputRefused,
    (f) => `row ${f.row} has the key "${f.key}" that row ${f.firstRow} has already`,
    () =>
      'a key names a row for ever: choose another --key column, or leave --key out to name rows by content',
  ),
  E106: entry<{ path: string; why: string; hint: string }>(
    inputRefused,
    (f) => `${f.path} cannot be read as a sheet: ${f.why}`,
    (f) => f.hint,
  ),
  E107: entry<{ name: string }>(
    inputRefused,
    (f) => `${f.name} changed while it was read`,
    () => 'wait until it is written whole, and give the same command again',
  ),
  E108: entry<{ first: number; row: number; last: number; most: string }>(
    inputRefused,
    (f) =>
      `rows ${f.first} to ${f.row} have more than ${f.most} of inputs, the most for rows ${f.first} to ${f.last}`,
    () => 'give large data by URL: put it where the run service can fetch it, and its address into the cell',
  ),
  E201: entry<{ what: string; allowed?: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => f.what,
    (f) =>
      [didYouMean(f.near), f.allowed && `allowed: ${list(f.allowed, ' ')}`].filter(Boolean).join(' ') ||
      undefined,
  ),
  E202: entry<{ value: string; column: string; type: string; hint?: string }>(
    inputRefused,
    (f) => `${JSON.stringify(f.value)} in column "${f.column}" is not ${f.type}`,
    (f) => f.hint,
  ),
  E203: entry<{ input: string; columns: readonly string[]; near?: string | undefined; emptyIn?: string }>(
    inputRefused,
    (f) =>
      f.emptyIn === undefined
        ? `the deployment needs the input "${f.input}", and no column gives it`
        : `the deployment needs the input "${f.input}", and column "${f.emptyIn}" is empty in this row`,
    (f) =>
      f.emptyIn === undefined
        ? `columns of this sheet: ${list(f.columns)}; --map ${f.input}=${f.near ?? '<column>'} or --set ${f.input}=<value> gives it`
        : 'the input has no default: fill the cell, or take the row out of the sheet',
  ),
  E204: entry<{ column: string; inputs: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => `column "${f.column}" is not an input of the deployment`,
    (f) =>
      [didYouMean(f.near), `inputs: ${list(f.inputs)}; --drop ${f.column} leaves the column out`]
        .filter(Boolean)
        .join(' '),
  ),
  E206: entry<{ column: string; flag: string; columns: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => `column "${f.column}" of ${f.flag} is not in the sheet`,
    (f) => [didYouMean(f.near), `columns of this sheet: ${list(f.columns)}`].filter(Boolean).join(' '),
  ),
  E200: entry<{ rows: number; wrong: number; errorsFile?: string | undefined }>(
    inputRefused,
    (f) =>
      `the sheet was refused: ${f.wrong} ${f.wrong === 1 ? 'problem' : 'problems'} in ${f.rows} rows; nothing was sent`,
    (f) => (f.errorsFile ? `every problem is listed in ${f.errorsFile}` : undefined),
  ),
};
