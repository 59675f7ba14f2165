// Makes a workbook of 100,000 rows with shared strings, lays it out, and prints how much memory that took at most, in MB.

import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fork } from 'node:child_process';
import { ZipFile } from 'yazl';
import { layOut } from '../../../src/sheet/sheet.ts';
import { unpackSheet } from '../../../src/sheet/xlsx/unpack-sheet.ts';
import { folderStore } from '../../../src/store/folder.ts';

const ROWS = 100_000;
const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

async function make(path: string): Promise<void> {
  const zip = new ZipFile();
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${REL}/${type}" Target="${target}"/>`;
  const add = (name: string, texts: Iterable<string>): void => zip.addReadStream(Readable.from(texts), name);
  add('_rels/.rels', [
    `<Relationships>${relation('a', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
  ]);
  add('xl/workbook.xml', ['<workbook xmlns:r="r"><sheets><sheet name="One" r:id="s"/></sheets></workbook>']);
  add('xl/_rels/workbook.xml.rels', [
    `<Relationships>${relation('s', 'worksheet', 'sheet.xml')}${relation('t', 'sharedStrings', 'texts.xml')}</Relationships>`,
  ]);
  add('xl/sheet.xml', sheetXml());
  add('xl/texts.xml', textsXml());
  zip.end();
  await pipeline(zip.outputStream as Readable, createWriteStream(path));
}

function* sheetXml(): Generator<string> {
  yield '<worksheet><sheetData><row>';
  for (const name of ['prompt', 'negative', 'seed', 'cfg', 'steps'])
    yield `<c t="inlineStr"><is><t>${name}</t></is></c>`;
  yield '</row>';
  for (let row = 0; row < ROWS; row += 1)
    yield `<row><c t="s"><v>${2 * row}</v></c><c t="s"><v>${2 * row + 1}</v></c><c><v>${row}</v></c><c><v>7.5</v></c><c><v>20</v></c></row>`;
  yield '</sheetData></worksheet>';
}

function* textsXml(): Generator<string> {
  yield '<sst>';
  for (let row = 0; row < ROWS; row += 1)
    yield `<si><t>a red fox in the snow, number ${row}</t></si><si><t>blurry ${row}</t></si>`;
  yield '</sst>';
}

async function lay(folder: string): Promise<void> {
  const to = join(folder, 'sheet.cells');
  await unpackSheet({ from: join(folder, 'large.xlsx'), file: 'large.xlsx', to });
  const store = folderStore(folder);
  const { rows } = await layOut({
    source: { name: 'large.xlsx', open: () => createReadStream(to) },
    options: { format: 'xlsx', map: {}, set: {}, drop: [], types: {} },
    inputTypes: undefined,
    store,
    errors: { store, file: 'errors.csv' },
  });
  process.stdout.write(JSON.stringify({ rows, mb: Math.round(process.resourceUsage().maxRSS / 1024) }));
}

const [workbookPath] = process.argv.slice(2);
if (workbookPath === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-xlsx-'));
  try {
    await make(join(folder, 'large.xlsx'));
    // In a process of its own, because making the workbook takes memory too.
    const child = fork(import.meta.filename, [folder], { stdio: 'inherit' });
    await new Promise((resolve) => child.once('exit', resolve));
  } finally {
    rmSync(folder, { recursive: true });
  }
} else await lay(workbookPath);
