// Makes a batch in a process of its own: node creator.ts <sheet> <out> <what is asked, as JSON>. With KILL_AT=n it is killed
// before the n-th call that changes something in <out>; what is inside a copy counts as one. It prints the batch's name and
// mark. With REUSE=1 it reuses the rows of earlier batches, and moves their results as the start of a batch does; otherwise
// no earlier batch may have all of them. With ASKS=1 nothing is decided beforehand: a forked process sends the code of its question
// after each message.

import fs from 'node:fs';
import promises from 'node:fs/promises';
import { enableCompileCache, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { Config } from '../../src/host/config.ts';
import type { BatchFolder } from '../../src/store/batch-folders.ts';
import type { Asked } from './create.ts';

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY);
let calls = 0;

const INSIDE_COPY = /\.incoming-\w+\/./;

/** Counts the calls of these functions, and does not let the one happen that is to be the last. */
function count(functions: object, names: readonly string[]): void {
  const all = functions as Record<string, (...given: readonly unknown[]) => unknown>;
  for (const name of names) {
    const real = all[name];
    all[name] = (...given) => {
      calls += Number(!INSIDE_COPY.test(String(given[0])));
      if (calls === killAt) process.kill(process.pid, 'SIGKILL');
      return real?.(...given);
    };
  }
}

const CHANGES = ['mkdir', 'mkdtemp', 'rename', 'link', 'rm', 'chmod', 'open'];
count(promises, CHANGES);
count(fs, ['createWriteStream', 'writeFileSync', 'mkdirSync', 'renameSync']);
syncBuiltinESMExports();

// Many of these processes start, one after the other.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/runsheet-creators'));
const { create } = await import('./create.ts');
const { placeReused } = await import('../../src/batches/reuse/reuse-rows.ts');
const [path = '', out = '', asked = '{}'] = process.argv.slice(2);
const decide: Asked['decide'] = async ({ open, rows }) => {
  if (process.env['REUSE']) return 'reuse';
  if (open.some((one) => one.rows === rows)) throw new Error(`asked about ${JSON.stringify(open)}`);
  return 'again';
};
// In rounds, each of which begins for two processes at the same moment. Asks as a script, which cannot be asked.
if (process.env['ASKS']) {
  const given = JSON.parse(asked) as Asked;
  const into = process.env['INTO'];
  process.send?.('ready');
  for (;;) {
    await new Promise((begin) => process.once('message', begin));
    const making = into === undefined ? newBatch(given) : addTo(into, given);
    const said = await making.then(
      (made) => ({ made }),
      (error: unknown) => ({ refused: (error as { readonly code?: string }).code }),
    );
    process.send?.(said);
  }
}
async function newBatch(given: Asked): Promise<boolean> {
  const { laidOut } = await create(path, out, given);
  return laidOut !== undefined;
}

async function addTo(name: string, { places }: Asked): Promise<boolean> {
  const { carriedOut, withFurther } = await import('./further.ts');
  const { openBatchFolder } = await import('../../src/store/batch-folders.ts');
  const batch = (await openBatchFolder(out, name)) as BatchFolder;
  const config = { out, home: out, places } as Config;
  const added = await withFurther({ write: () => path }, { batch, name: '', text: '', config }, carriedOut);
  return added !== undefined;
}

const made = await create(path, out, { ...(JSON.parse(asked) as Asked), decide });
await placeReused(made);
const { batch, file, laidOut } = made;
console.log(JSON.stringify({ batch, mark: file.mark, made: laidOut !== undefined }));
