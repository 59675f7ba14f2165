// An export as a zip archive: the files of all rows under their names, and results.csv, whose column outputs names them.

import type { ExportSource } from './export-rows.ts';
import { inPieces, type Sink } from './sink.ts';
import { csvLines } from './text-exports.ts';
import { ZipWriter } from './zip-writer.ts';

export async function writeZip(source: ExportSource, sink: Sink): Promise<readonly string[]> {
  const { store } = source;
  const zip = new ZipWriter(sink);
  await zip.add('results.csv', inPieces(csvLines(source)));
  let missing = 0;
  for await (const { record } of source.read())
    for (const { path } of record.files) {
      if (await store.exists(path)) await zip.add(path, store.open(path), 'stored');
      else missing += 1;
    }
  await zip.end();
  return missing === 0
    ? []
    : [`${missing} files are missing in the batch folder: runsheet verify ${source.file.batch}`];
}
