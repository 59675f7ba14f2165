// Runs rows from an async generator, and prints each row as it ends. It uses the local run service, which costs nothing:
//
//   npm pack                                    in the clone of runsheet: makes runsheet-0.1.0.tgz
//   npm install <path>/runsheet-0.1.0.tgz       in your project
//   cp node_modules/runsheet/examples/library/portraits.ts . && node portraits.ts
//
// If you stop it, start it again: it continues the batch and buys no row twice.

import { fileURLToPath } from 'node:url';
import { AlreadyDoneError, connect, type Row } from 'runsheet';

/** Rows could come from a database: only a few of them are in memory. */
async function* portraits(): AsyncGenerator<Row> {
  for (let number = 1; number <= 8; number += 1)
    yield { prompt: `portrait ${number}, oil on canvas`, seed: 18_446_744_073_709_551_615n - BigInt(number) };
}

await using runsheet = await connect({ service: 'local', onNotice: (text) => console.error(text) });

const batch = await runsheet
  .start(portraits(), { deployment: 'portraits', concurrency: 4, maxCost: 1 })
  .catch((error: unknown) => {
    // E538: that batch has exactly these rows. E530 would be some of them.
    if (error instanceof AlreadyDoneError && error.code === 'E538') return runsheet.getHandle(error.batchId);
    throw error;
  });

for await (const row of batch.rows({ follow: true }))
  console.log(`row ${row.row}: ${row.outcome}, ${row.files.map(({ path }) => path).join(' ')}`);

const { outcomes, rows, cost_usd } = await batch.result();
console.log(
  `${outcomes.succeeded} of ${rows} rows succeeded, about $${cost_usd}, in ${fileURLToPath(batch.location)}`,
);
