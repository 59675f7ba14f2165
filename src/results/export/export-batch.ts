// Writes a batch in one of the formats, also while it runs. Each format is loaded only when it is used.

import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { exportSource, type ExportSource, CountedSink, type Sink } from './export-rows.ts';
import type { ExportFormat } from '../../options/failure-kind.ts';

export type ExportParams = {
  readonly as: ExportFormat;
  /** CSV for Excel: with a byte order mark, and without formulas. */
  readonly excel: boolean;
  /** The address of an output file, from where the export will lie. */
  readonly linkTo: (path: string) => string | Promise<string>;
  /** For how many days the links work; absent: as long as the files are there. */
  readonly linksDays?: number;
};

export type Written = {
  readonly rows: number;
  readonly bytes: number;
  readonly notes: readonly string[];
};

export async function writeExport(
  { store, file }: { readonly store: Store; readonly file: BatchFile },
  params: ExportParams,
  to: Sink,
): Promise<Written> {
  const source = await exportSource(store, file);
  const sink = new CountedSink(to);
  const notes = await writeAs(source, params, sink);
  return { rows: source.rows, bytes: sink.bytes, notes };
}

async function writeAs(source: ExportSource, { as, excel, linkTo, linksDays }: ExportParams, sink: Sink) {
  switch (as) {
    case 'xlsx':
      return (await import('./xlsx-export.ts')).writeXlsx(source, sink, { linkTo, linksDays });
    case 'csv': {
      const { writeCsv, writeExcelCsv } = await import('./export-rows.ts');
      return (excel ? writeExcelCsv : writeCsv)(source, sink);
    }
    case 'jsonl':
      return (await import('./export-rows.ts')).writeJsonl(source, sink);
    case 'zip':
      return (await import('./zip-export.ts')).writeZip(source, sink);
  }
}
