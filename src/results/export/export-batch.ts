// Writes a batch in one of the formats, even while it runs. A workbook and a zip are loaded only when they are used.

import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { csvLines, exportSource, jsonLines, type ExportSource } from './export-rows.ts';
import { writeAll, type Sink } from './sink.ts';
import type { ExportFormat } from '../../options/choices.ts';

export type ExportParams = {
  readonly as: ExportFormat;
  /** The address of an output file, relative to the place of the export. */
  readonly linkTo: (path: string) => string | Promise<string>;
  /** How many days the links work; absent: as long as the files exist. */
  readonly linksDays?: number;
};

export type WrittenExport = {
  readonly rows: number;
  readonly bytes: number;
  readonly notes: readonly string[];
};

export async function writeExport(
  { store, file }: { readonly store: Store; readonly file: BatchFile },
  params: ExportParams,
  to: Sink,
): Promise<WrittenExport> {
  const source = await exportSource(store, file);
  let bytes = 0;
  const write: Sink['write'] = (content) => {
    bytes += Buffer.byteLength(content);
    return to.write(content);
  };
  const notes = await writeAs(source, params, { write });
  return { rows: source.rows, bytes, notes };
}

async function writeAs(source: ExportSource, { as, linkTo, linksDays }: ExportParams, sink: Sink) {
  switch (as) {
    case 'xlsx':
      return (await import('./xlsx-export.ts')).writeXlsx(source, sink, { linkTo, linksDays });
    case 'csv':
      return writeAll(sink, csvLines(source));
    case 'jsonl':
      return writeAll(sink, jsonLines(source));
    case 'zip':
      return (await import('./zip-export.ts')).writeZip(source, sink);
  }
}
