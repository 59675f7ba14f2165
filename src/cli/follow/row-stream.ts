// Prints rows as they end, one JSON object a line (`-o jsonl` of run and follow, and `rows --follow`).

import { integerFrom } from '../../host/formats/exact-json.ts';
import { terminalJson } from '../../errors/outside-text.ts';
import { EndedRows } from '../../library/handle/ended-rows.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { rowJson } from '../json/batch-json.ts';
import type { ShownRow } from '../../results/batch-rows.ts';

export class RowStream {
  readonly #rows: EndedRows;
  readonly #stdout: NodeJS.WriteStream;
  #printed: Promise<void> = Promise.resolve();

  constructor(batchFolder: FoundBatch, stdout: NodeJS.WriteStream) {
    this.#rows = new EndedRows(batchFolder, undefined);
    this.#stdout = stdout;
  }

  /** Prints the rows that ended since the last call. `hasEnded`: no further row will end. */
  print(hasEnded: boolean): Promise<void> {
    // Concurrent reads would print a row twice.
    this.#printed = this.#printed.then(() => this.#print(hasEnded));
    return this.#printed;
  }

  async #print(hasEnded: boolean): Promise<void> {
    for await (const row of this.#rows.read(hasEnded)) await put(this.#stdout, `${rowLine(row)}\n`);
  }
}

/** The rows of a batch that has ended, in the order in which they ended. */
export const printEndedRows = (batchFolder: FoundBatch, stdout: NodeJS.WriteStream): Promise<void> =>
  new RowStream(batchFolder, stdout).print(true);

export const rowLine = (row: ShownRow): string =>
  terminalJson(
    JSON.stringify(rowJson(row), (_, value: unknown) =>
      typeof value === 'bigint' ? integerFrom(String(value)) : value,
    ),
  );

/** Respects backpressure. */
export async function put(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (text === '') return;
  await new Promise<void>((done) => {
    stream.write(text, () => done());
  });
}
