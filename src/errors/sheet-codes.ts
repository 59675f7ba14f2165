// E1xx and E2xx: faults of a sheet or its rows. These errors occur before anything is sent.

import { didYouMean, entry, EXIT, list, sentences, textFromThrower } from './entry.ts';
import { shellWord } from './outside-text.ts';

const { inputRefused } = EXIT;

/** A hint names at most this many columns; a terminal shows all of them with their first values. */
const MAX_COLUMNS = 12;

/** Flags that map the first of several columns to an input. */
type AbsentColumn = { column: string; flag: string };
type ColumnAbsent = AbsentColumn & { columns: readonly string[]; near?: string | undefined };

export const oneOf = ({
  input,
  columns: [first = '', ...furtherColumns],
}: {
  readonly input: string;
  readonly columns: readonly string[];
}): readonly (readonly [flag: string, value: string])[] => [
  ['--map', `${input}=${first}`],
  ...furtherColumns.map((column) => ['--drop', column] as const),
];

/** `--map text=b`, or each of several flags. */
const flagsFor = (input: string, flags: readonly (readonly [flag: string, value: string])[]): string =>
  flags.length === 0
    ? `--map ${shellWord(input)}=<column>`
    : flags.map((flag) => flag.map(shellWord).join(' ')).join(', or ');

export const SHEET_ENTRIES = {
  E101: entry<{ path: string; near: readonly string[] }>(inputRefused, (f) => [
    `there is no sheet at ${f.path}`,
    f.near.length > 0
      ? `did you mean ${list(f.near)}?`
      : 'check the path, or give - to read the sheet from stdin',
  ]),
  E102: textFromThrower(inputRefused),
  E103: textFromThrower(inputRefused),
  E104: textFromThrower(inputRefused),
  E105: entry<{ key: string; row: number; firstRow: number }>(inputRefused, (f) => [
    `row ${f.row} has the key "${f.key}" that row ${f.firstRow} has already`,
    'each row needs a key of its own: choose another --key column, or omit --key to name rows by content',
  ]),
  E106: entry<{ path: string; why: string; hint: string }>(inputRefused, (f) => [
    `${f.path} cannot be read as a sheet: ${f.why}`,
    f.hint,
  ]),
  E107: entry<{ name: string }>(inputRefused, (f) => [
    `${f.name} changed while it was read`,
    'wait until the other program has finished writing, then repeat the same command',
  ]),
  E108: entry<{ first: number; row: number; last: number; most: string }>(inputRefused, (f) => [
    `rows ${f.first} to ${f.row} have more than ${f.most} of inputs, the maximum for rows ${f.first} to ${f.last}`,
    'pass large data by URL: store it where the run service can fetch it, and put its URL into the cell',
  ]),
  E109: entry<{ address: string; reason: string }>(EXIT.unreachable, (f) => [
    `the sheet at ${f.address} cannot be downloaded: ${f.reason}`,
    'check that the worker can reach this address, or give the sheet as a file',
  ]),
  E111: entry<{
    file: string;
    texts: string;
    flags: string;
    command?: string | undefined;
    isDeclined?: boolean;
    /** For each question that the command leaves open: the flags of its answers. */
    choices?: readonly string[];
  }>(inputRefused, (f) => [
    f.isDeclined
      ? `nothing was sent, because you rejected how ${f.file} would be read: ${f.texts}`
      : `${f.file} is read with guesses that could spend money wrongly: ${f.texts}`,
    f.isDeclined
      ? `replace these flags and run it again: ${f.flags}`
      : f.command === undefined
        ? `if they are right, add: ${f.flags}`
        : f.choices?.length
          ? [
              `to choose which rows run, and what is sent, ${f.choices.map((flags) => `add ${flags}`).join('; and ')}`,
              f.command,
            ]
              .filter(Boolean)
              .join('\nto: ')
          : `if they are right: ${f.command}`,
  ]),
  E112: textFromThrower(inputRefused),
  E201: entry<{ what: string; allowed?: readonly string[]; near?: string | undefined }>(inputRefused, (f) => [
    f.what,
    sentences(didYouMean(f.near), f.allowed && `allowed: ${list(f.allowed, ' ')}`) || undefined,
  ]),
  E202: entry<{ value: string; column: string; type: string; hint?: string }>(inputRefused, (f) => [
    `${JSON.stringify(f.value)} in column "${f.column}" is not ${f.type}`,
    f.hint,
  ]),
  E203: entry<{
    input: string;
    columns: readonly string[];
    flag?: readonly [flag: string, value: string] | undefined;
    /** Flags; the user chooses one. */
    choices?: readonly (readonly [flag: string, value: string])[];
    emptyIn?: string;
    /** The default file of the workflow, if no server has it. */
    absent?: string | undefined;
  }>(inputRefused, (f) => [
    [
      `the deployment requires the input "${f.input}"`,
      ...(f.absent === undefined ? [] : [`because no server has ${JSON.stringify(f.absent)}`]),
      f.emptyIn === undefined
        ? 'but no column provides it'
        : `but column "${f.emptyIn}" is empty in this row`,
    ].join(', '),
    f.emptyIn === undefined
      ? `${f.columns.length > MAX_COLUMNS ? '' : `columns of this sheet: ${list(f.columns)}; `}add ${flagsFor(f.input, f.flag === undefined ? (f.choices ?? []) : [f.flag])}${(f.choices?.length ?? 0) > 1 && f.flag === undefined ? ',' : ''} or --set ${shellWord(f.input)}=<value>`
      : 'the input has no default: fill in the cell, or remove the row from the sheet',
  ]),
  E204: entry<{
    column: string;
    inputs: readonly string[];
    near?: string | undefined;
    /** Whether the column may name the rows: without it, they would have other keys. */
    isKey?: boolean;
  }>(inputRefused, (f) => [
    `column "${f.column}" is not an input of the deployment`,
    sentences(
      didYouMean(f.near),
      `inputs: ${list(f.inputs)}; ${f.isKey === true ? 'to name the rows by it, add: --key' : 'to ignore the column, add: --drop'} ${shellWord(f.column)}`,
    ),
  ]),
  E206: entry<ColumnAbsent & { more?: readonly AbsentColumn[] }>(inputRefused, (f) => [
    f.more === undefined
      ? `column "${f.column}" of ${f.flag} is not in the sheet`
      : `columns are not in the sheet: ${list([f, ...f.more].map(({ column, flag }) => `"${column}" of ${flag}`))}`,
    sentences(didYouMean(f.near), `columns of this sheet: ${list(f.columns)}`),
  ]),
  E207: entry<{ value: string; column: string; what: string; hint: string }>(inputRefused, (f) => [
    `${f.value === '' ? 'a cell' : JSON.stringify(f.value)} in column "${f.column}" is ${f.what}`,
    f.hint,
  ]),
  E118: entry<{ template: string; name: string; row: number; firstRow: number }>(inputRefused, (f) => [
    f.name === ''
      ? `--output-name gives the files of row ${f.row} no name: its cells are empty or have no letters`
      : `--output-name gives the files of rows ${f.firstRow} and ${f.row} the same name ${JSON.stringify(f.name)}; file systems ignore case`,
    `add the number of the row, which is unique: --output-name ${shellWord(`${f.template}-{row}`)}`,
  ]),
  E119: entry<{ rows: string; accept: string }>(inputRefused, (f) => [
    f.rows,
    `if all of them are meant: ${f.accept}`,
  ]),
  E120: entry<{ files: string; accept: string }>(inputRefused, (f) => [
    f.files,
    `if all of them may be uploaded: ${f.accept}`,
  ]),
  E208: entry<{ input: string; columns: readonly string[] }>(inputRefused, (f) => [
    `the columns ${list(f.columns.map((name) => JSON.stringify(name)))} may both be the input ${f.input}`,
    `name one of them, and drop the others: ${oneOf(f).flat().map(shellWord).join(' ')}`,
  ]),
  E210: entry<{
    value: string;
    where: string;
    column: string | undefined;
    what: string;
    hint: string;
  }>(inputRefused, (f) => [
    `${JSON.stringify(f.value)} in ${f.where} is ${f.what}`,
    f.hint.replace('<column>', shellWord(f.column ?? '<column>')),
  ]),
  E200: entry<{ rows: number; wrong: number; errorsFile?: string | undefined; isMore: boolean }>(
    inputRefused,
    (f) => [
      `the sheet was refused: ${f.wrong} ${f.wrong === 1 ? 'problem' : 'problems'} in ${f.rows} rows; nothing was sent`,
      f.errorsFile
        ? `every problem is listed in ${f.errorsFile}`
        : f.isMore
          ? 'to list every problem in a file: --errors'
          : undefined,
    ],
  ),
};
