// Exports a batch as a zip archive: results.csv, and the files that its column `outputs` names.

import { type ExportSource, csvLines } from './export-rows.ts';
import { inPieces, type Sink } from './sink.ts';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

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

type Chunks = AsyncIterable<string | Uint8Array>;

/** Writes a zip archive entry by entry. Memory keeps only the names of entries; archives and entries may exceed 4 GiB. */
export class ZipWriter {
  readonly #zip = new ZipFile();
  readonly #written: Promise<void>;
  #failure: unknown;

  constructor(sink: Sink) {
    // The library's type lacks what every stream of Node has.
    const output = this.#zip.outputStream as Readable;
    this.#zip.on('error', (error: Error) => output.destroy(error));
    this.#written = copy(output, sink).catch((error: unknown) => {
      this.#failure = error;
      output.destroy();
    });
  }

  /** Ends when the entry is read to its end. Pictures are compressed already: store them. */
  async add(name: string, chunks: Chunks, as: 'deflated' | 'stored' = 'deflated'): Promise<void> {
    const read = Promise.withResolvers<void>();
    const stream = Readable.from(buffers(chunks, read.resolve), { objectMode: false });
    stream.once('error', (error) => this.#zip.emit('error', error));
    this.#zip.addReadStreamLazy(name, { compress: as === 'deflated' }, (give) => give(undefined, stream));
    await Promise.race([read.promise, this.#written]);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async end(): Promise<void> {
    this.#zip.end();
    await this.#written;
    if (this.#failure !== undefined) throw this.#failure;
  }
}

async function copy(output: Readable, sink: Sink): Promise<void> {
  for await (const chunk of output) await sink.write(chunk as Uint8Array);
}

async function* buffers(chunks: Chunks, end: () => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk as Uint8Array);
  end();
}
