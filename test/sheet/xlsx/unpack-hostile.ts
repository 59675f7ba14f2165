// Unpacks the workbook of the first argument in a process of its own, and prints what that took.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { isRunsheetError } from '../../../src/errors/error.ts';
import { unpackSheet } from '../../../src/sheet/xlsx/unpack-sheet.ts';

export type Taken = {
  /** The error; undefined if the workbook was unpacked. */
  readonly code?: string;
  readonly message?: string;
  /** Seconds of the processor, which do not depend on other programs. */
  readonly seconds: number;
  /** The same for a million elements that nobody looks at: how fast this machine is at the moment. */
  readonly unit: number;
  readonly mib: number;
  readonly writtenMib: number;
};

const MIB = 1024 ** 2;
const folder = mkdtempSync(join(tmpdir(), 'runsheet-xlsx-'));
let writtenMib = 0;
const watch = setInterval(() => {
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  writtenMib = Math.max(writtenMib, sizes.reduce((sum, size) => sum + size, 0) / MIB);
}, 20);
const refused = await unpackSheet({
  from: process.argv[2] ?? '',
  file: 'book.xlsx',
  to: join(folder, 'sheet.cells'),
}).then(
  () => undefined,
  (error: unknown) => error,
);
clearInterval(watch);
rmSync(folder, { recursive: true });
if (refused !== undefined && !isRunsheetError(refused)) throw refused;
const { user, system } = process.cpuUsage();
const parser = new SaxesParser();
for (const piece of ['<a>', ...Array.from({ length: 16 }, () => '<b/>'.repeat(65_536)), '</a>'])
  parser.write(piece);
const unit = (process.cpuUsage().user - user) / 1e6;
const taken: Taken = {
  ...(refused && { code: refused.code, message: refused.message }),
  seconds: (user + system) / 1e6,
  unit,
  mib: process.resourceUsage().maxRSS / 1024,
  writtenMib,
};
process.stdout.write(JSON.stringify(taken));
