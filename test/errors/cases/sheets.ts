// Errors of sheets and rows. None of them needs Temporal: `plan` reads the sheet as `run` does.

import { appendFileSync, copyFileSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Console } from '../../console/console.ts';
import { textRow, workbook } from '../../sheet/xlsx/workbooks.ts';
import type { Provocation } from '../provocation.ts';

const plan = (sheet: string, ...flags: readonly string[]): readonly string[] => [
  'plan',
  sheet,
  '-d',
  'portraits',
  ...flags,
];

const sheet = (name: string, text: string) => (console: Console) => console.write(name, text);

const book =
  (name: string, row: string) =>
  async ({ folder }: Console): Promise<void> =>
    copyFileSync(await workbook({ rows: textRow('prompt') + row }), join(folder, name));

/** Appends to the sheet as soon as its copy has begun. */
async function changeWhileRead({ out }: Console, path: string): Promise<void> {
  const hasBegun = (): boolean => {
    try {
      return readdirSync(out).some(
        (name) => name.startsWith('.incoming') && readdirSync(join(out, name)).length > 0,
      );
    } catch {
      return false;
    }
  };
  while (!hasBegun()) await turn();
  appendFileSync(path, 'b\n');
}

const NAMES: readonly Provocation<Console>[] = [
  {
    code: 'E101',
    name: 'a name with quotes and blanks is misspelt',
    arrange: sheet('my "sheet" 1.csv', 'prompt\na\n'),
    args: plan('my "shet" 1.csv'),
    leads: [0],
  },
  {
    code: 'E101',
    name: 'a name that begins with a hyphen is misspelt, behind --',
    arrange: sheet('-draft.csv', 'prompt\na\n'),
    args: ['plan', '-d', 'portraits', '--', '-drft.csv'],
    leads: [0],
  },
  {
    code: 'E101',
    name: 'the folder is empty',
    arrange: ({ folder }) => mkdirSync(join(folder, 'nothing')),
    args: plan('nothing/here'),
    says: /check the path, or give - to read the sheet from stdin/,
  },
  {
    code: 'E106',
    name: 'the only sheet of a folder is meant',
    arrange: (console: Console) => {
      mkdirSync(join(console.folder, "it's a folder"));
      console.write("it's a folder/one $HOME.csv", 'prompt\na\n');
    },
    args: plan("it's a folder"),
    leads: [0],
  },
  { code: 'E106', name: 'the sheet is a device', args: plan('/dev/zero'), says: /it is a device/ },
  {
    code: 'E107',
    name: 'another program writes the sheet',
    arrange: (console: Console) => {
      const path = console.write('growing.csv', 'prompt\na\n');
      truncateSync(path, 64 * 1024 * 1024);
      void changeWhileRead(console, path);
    },
    args: plan('growing.csv'),
    says: /wait until the other program has finished writing/,
    mend: sheet('growing.csv', 'prompt\na\n'),
  },
];

const FORMS: readonly Provocation<Console>[] = [
  {
    code: 'E102',
    name: 'UTF-16 is read as UTF-8',
    arrange: ({ folder }) =>
      writeFileSync(join(folder, 'wide.csv'), Buffer.from('\uFEFFprompt,seed\nä,1\n', 'utf16le')),
    args: plan('wide.csv', '--encoding', 'utf-8'),
    leads: [0],
  },
  {
    code: 'E102',
    name: 'a workbook is read as CSV',
    arrange: book('book.csv', textRow('a')),
    args: plan('book.csv', '--format', 'csv'),
    leads: [0],
  },
  {
    code: 'E102',
    name: 'a sheet of a workbook is misspelt',
    arrange: book('book.xlsx', textRow('a')),
    args: plan('book.xlsx', '--sheet-name', 'Oen'),
    leads: [0],
  },
  {
    code: 'E102',
    name: 'the separator may be one of two',
    arrange: sheet('both.csv', 'prompt;a,b\nx;y,z\nu;v,w\n'),
    args: plan('both.csv'),
    says: /--delimiter , or --delimiter ';'/,
  },
  {
    code: 'E103',
    name: 'a row has too many fields',
    arrange: sheet('ragged.csv', 'prompt,seed\na,1\nb,2,3\n'),
    args: plan('ragged.csv'),
    leads: [0],
    says: /ragged\.csv:3:3[^]*3 \| b,2,3\n[^]*put a field that contains the delimiter in quotes/,
  },
  {
    code: 'E104',
    name: 'a column has a name that is reserved',
    arrange: sheet('twice.csv', 'prompt,__proto__\na,1\n'),
    args: plan('twice.csv'),
    says: /twice\.csv:1:2[^]*every column needs a name of its own/,
  },
  {
    code: 'E105',
    name: 'two rows have one key',
    arrange: sheet('keys.csv', 'sku,prompt\nA,x\nA,y\n'),
    args: plan('keys.csv', '--key', 'sku'),
    says: /keys\.csv:3[^]*choose another --key column, or omit --key/,
    mend: sheet('keys.csv', 'sku,prompt\nA,x\nB,y\n'),
  },
  {
    code: 'E112',
    name: 'the header stands in the sheet again',
    arrange: sheet('pages.csv', 'prompt,seed\na,1\nprompt,seed\nb,2\n'),
    args: plan('pages.csv'),
    leads: [0],
  },
];

const COLUMNS: readonly Provocation<Console>[] = [
  {
    code: 'E200',
    name: 'a column that is no input has quotes and a dollar sign',
    arrange: sheet('own.csv', '"what to ""draw"" for $5",prompt,gpu\na,b,A10X\n'),
    args: plan('own.csv', '--errors', '-o', 'json'),
    says: /own-errors\.csv/,
  },
  {
    code: 'E204',
    name: 'a row, as a program gives it, has a name that is no input',
    arrange: sheet('rows', '{"prompt":"a","foo":1}\n'),
    args: plan('rows', '--format', 'jsonl'),
    leads: [0],
    says: /rows:1:[^]*inputs: prompt, seed, style/,
  },
  {
    code: 'E203',
    name: 'no column provides an input, and the one that is left has only numbers',
    arrange: sheet('left.csv', "seed,artist's words\n1,2\n"),
    args: plan('left.csv'),
    says: /columns of this sheet: seed, artist's words; add --map prompt=<column>/,
  },
  {
    code: 'E203',
    name: 'a required cell is empty',
    arrange: sheet('hole.csv', 'prompt,seed\na,1\n,2\n'),
    args: plan('hole.csv'),
    leads: [0],
    says: /hole\.csv:3:1[^]*fill in the cell, or remove the row/,
    mend: sheet('hole.csv', 'prompt,seed\na,1\nb,2\n'),
  },
  {
    code: 'E206',
    name: 'a column of --map is misspelt',
    arrange: sheet('mapped.csv', 'the text,seed\na,1\n'),
    args: plan('mapped.csv', '--map', 'prompt=the txt'),
    leads: [0],
  },
  {
    code: 'E206',
    name: 'a column of --output-name is misspelt',
    arrange: sheet('mapped.csv', 'prompt,seed\na,1\n'),
    args: plan('mapped.csv', '--output-name', '$(x) {sed}-{row}'),
    leads: [0],
  },
  {
    code: 'E208',
    name: 'two columns may be one input',
    arrange: sheet('alike.csv', "Prompt,PROMPT,it's\na,b,c\n"),
    args: plan('alike.csv'),
    leads: [0],
  },
];

const CELLS: readonly Provocation<Console>[] = [
  {
    code: 'E118',
    name: 'two rows give their files one name',
    arrange: sheet('names.csv', 'sku,prompt\na,x\na,y\n'),
    args: plan('names.csv', '--output-name={sku} of "$USER"'),
    leads: [0],
  },
  {
    code: 'E201',
    name: 'a value is misspelt',
    arrange: sheet('style.csv', 'prompt,style\na,oli\n'),
    args: plan('style.csv'),
    says: /style\.csv:2:2[^]*did you mean oil\? allowed: plain oil/,
    mend: sheet('style.csv', 'prompt,style\na,oil\n'),
  },
  {
    code: 'E201',
    name: 'a GPU of --ladder is misspelt',
    arrange: sheet('gpu.csv', 'prompt\na\n'),
    args: plan('gpu.csv', '--ladder', 'A10G,H10', '-c', '2'),
    leads: [0],
  },
  {
    code: 'E202',
    name: 'a number is none',
    arrange: sheet('seed.csv', 'prompt,seed\na,x1\n'),
    args: plan('seed.csv'),
    says: /seed\.csv:2:2[^]*use digits only/,
  },
  {
    code: 'E207',
    name: 'a cell of a workbook is an error',
    arrange: book('na.xlsx', '<row><c t="e"><v>#N/A</v></c></row>'),
    args: plan('na.xlsx'),
    says: /na\.xlsx A2[^]*correct the formula, or enter the value/,
  },
  {
    code: 'E210',
    name: 'a cell names a file that does not exist',
    arrange: (console: Console) => {
      console.write('fox.png', 'a fox');
      console.write('photos.csv', 'prompt\nfix.png\n');
    },
    args: plan('photos.csv', '--type', 'prompt=file'),
    says: /neither an address nor a file[^]*photos\.csv:2:1[^]*did you mean fox\.png/,
  },
];

/** Sheets that take seconds to read. */
export const LARGE: readonly Provocation<Console>[] = [
  {
    code: 'E108',
    name: 'the inputs of a page are larger than a page',
    arrange: sheet('large.csv', `prompt\n${`${'x'.repeat(900_000)}\n`.repeat(40)}`),
    args: plan('large.csv'),
    says: /large\.csv:\d+[^]*pass large data by URL/,
  },
  {
    code: 'E119',
    name: 'a grid makes many rows of few',
    arrange: sheet(
      'many "rows".csv',
      `prompt\n${Array.from({ length: 11 }, (_, at) => `a $HOME ${at}\n`).join('')}`,
    ),
    args: ['submit', 'many "rows".csv', '-d', 'portraits', '--repeat', '10000'],
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    leads: ['E401'],
  },
];

const FILES: readonly Provocation<Console>[] = [
  {
    code: 'E120',
    name: 'a sheet from another person names a hidden file',
    arrange: (console) => {
      console.write('.my $KEY', 'a key');
      console.write('from "ann".csv', 'prompt\n.my $KEY\n');
    },
    args: ['submit', 'from "ann".csv', '-d', 'portraits', '--type', 'prompt=file'],
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    leads: ['E401'],
  },
];

const SEVERAL: readonly Provocation<Console>[] = [
  {
    code: 'E202',
    name: 'a cell has several seeds',
    arrange: sheet('seeds.csv', 'prompt,seed\na,"1,2,3"\nb,100-103\n'),
    args: plan('seeds.csv'),
    leads: [0],
  },
  {
    code: 'E602',
    name: 'an axis is misspelt',
    arrange: sheet('axis.csv', 'prompt\na\n'),
    args: plan('axis.csv', '--grid', 'stile=plain,oil'),
    leads: [0],
  },
  {
    code: 'E602',
    name: 'a value of an axis is misspelt',
    arrange: sheet('value.csv', 'prompt\na\n'),
    args: plan('value.csv', '--grid', 'style=oli,plain'),
    leads: [0],
  },
  {
    code: 'E206',
    name: 'the column to split is misspelt',
    arrange: sheet('split.csv', 'prompt,seed\na,"1,2"\n'),
    args: plan('split.csv', '--split', 'sed'),
    leads: [0],
  },
  {
    code: 'E550',
    name: 'a condition names no column',
    arrange: sheet('where.csv', 'prompt,Status\na,Draft\n'),
    args: plan('where.csv', '--where', 'status = Draft'),
    says: /character 1: there is no column "status"[^]*did you mean Status/,
  },
  {
    code: 'E103',
    name: 'a number of runs is none',
    arrange: sheet('often.csv', 'prompt,often\na,many\n'),
    args: plan('often.csv', '--repeat', 'often'),
    says: /"many" in column "often" is not a number of runs[^]*often\.csv:2:2[^]*from 1 to 10,000/,
    mend: sheet('often.csv', 'prompt,often\na,2\n'),
  },
];

export const SHEETS: readonly Provocation<Console>[] = [
  ...NAMES,
  ...FORMS,
  ...COLUMNS,
  ...CELLS,
  ...FILES,
  ...SEVERAL,
];
