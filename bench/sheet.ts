import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** Writes a sheet with the given number of different rows. */
export async function makeSheet(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('number,prompt,seed\n');
  for (let row = 1; row <= rows; row += 1) {
    const isFull = !file.write(
      `${row},portrait number ${row} in soft light,${BigInt(row) * 7_919_000_000_000_003n}\n`,
    );
    if (isFull) await new Promise<void>((done) => file.once('drain', () => done()));
  }
  file.end();
  await finished(file);
}
