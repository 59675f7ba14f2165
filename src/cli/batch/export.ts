// export: writes a batch as a file for other programs.

import { definedOnly } from '../../options/defined-only.ts';
import type { FlagsOf } from '../flags/flags.ts';
import type { exportFlags } from './batch-flags.ts';
import { fileURLToPath } from 'node:url';
import { problem } from '../../errors/error.ts';
import { terminalJson, terminalLine, terminalLines } from '../../errors/outside-text.ts';
import { exportBatch, exportFormat, exportTo } from '../../library/handle/exported-batch.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { WrittenExport } from '../../results/export/export-batch.ts';
import type { ExportFormat } from '../../options/choices.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { bytesText, plural } from '../../options/text/printed-numbers.ts';
import { nextCommand } from '../next-command.ts';

export default async function exportCommand(
  this: Context,
  flags: FlagsOf<typeof exportFlags>,
  name: string | undefined,
): Promise<void> {
  const batchFolder = await findBatch(configOf(flags), name);
  const { file } = flags;
  const printer = printerFor(this, flags);
  if (file === '-') {
    const format = exportFormat(definedOnly({ as: flags.as }));
    const { stdout } = this.process;
    if (stdout.isTTY && format !== 'csv' && format !== 'jsonl')
      throw problem('E602', {
        what: `a terminal cannot show ${format}`,
        hint: `omit --file -, or send it elsewhere: runsheet export ${batchFolder.batch} --as ${format} --file - > ${batchFolder.batch}-results.${format}`,
      });
    const shown = stdout.isTTY ? forTerminal(format) : exact;
    const write = (chunk: Chunk): Promise<void> => put(stdout, shown(chunk));
    const written = await exportTo(batchFolder, format, { write });
    for (const line of linesOf(written)) printer.notice(line);
    printer.next(['open', nextCommand('open', batchFolder)]);
    return;
  }
  const options = definedOnly({ as: flags.as, replace: flags.replace, file });
  const { file: url, ...written } = await exportBatch(batchFolder, options);
  const path = fileURLToPath(url);
  if (flags.output === 'json') printer.json({ batch: batchFolder.batch, file: path, ...written });
  else printer.data(terminalLine(path));
  for (const line of linesOf(written)) printer.notice(line);
  printer.next(['open', nextCommand('open', batchFolder)]);
}

const linesOf = ({ rows, bytes, notes }: WrittenExport): readonly string[] => [
  ...notes,
  `${plural(rows, 'row')}, ${bytesText(bytes)}`,
];

type Chunk = string | Uint8Array;

const exact = (chunk: Chunk): Chunk => chunk;

/** Strips control characters from column names, because batch.json may come from somebody else. */
const forTerminal =
  (format: ExportFormat) =>
  (chunk: Chunk): string =>
    format === 'jsonl' ? terminalJson(chunk.toString()) : terminalLines(chunk.toString());

/** Respects backpressure. A reader that has enough, such as head, ends the command. */
const put = (stream: NodeJS.WriteStream, chunk: Chunk): Promise<void> =>
  new Promise((done, fail) => {
    stream.write(chunk, (error) => (error ? fail(error) : done()));
  });
