// Says what a receipt that the user has proves.

import { EXIT } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { readReceiptFile } from '../../library/handle/receipt-file.ts';
import type { Printer } from '../context.ts';
import { count, money, plural } from '../format.ts';
import { sayNext } from '../next-command.ts';
import { receiptJson } from '../json/verification.ts';

/** Throws E520 for the first wrong line. */
export async function checkGiven(printer: Printer, file: string, output: 'text' | 'json'): Promise<number> {
  const { batch, lines, sha256, total } = await readReceiptFile(file);
  if (output === 'json') printer.json(receiptJson({ file, holds: true, batch, lines, sha256, total }));
  else {
    printer.data(`ok   ${count(lines)} lines are as they were written: sha256 ${sha256}`);
    printer.data(
      `ok   ${plural(total.rows, 'row')}, ${plural(total.runs, 'run')}, ${count(total.bought_twice)} bought twice, ${money(total.cost_usd.total)} estimated`,
    );
  }
  printer.notice(terminalLine(`the receipt of batch ${batch} holds`));
  sayNext(printer, output, ['verify', `runsheet verify ${shellWord(batch)}`]);
  return EXIT.ok;
}
