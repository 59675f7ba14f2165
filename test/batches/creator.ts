// Creates a batch in a process of its own: node creator.ts <sheet> <out> <params as JSON>. Prints the name and the mark of the batch.
// KILL_AT=n kills the process before its n-th call that changes something in <out>; calls inside a copy do not count. REUSE=1 reuses
// the rows of earlier batches and moves their results, as the start of a batch does; without it, no earlier batch may have every row.
// ASKS=1 decides nothing in advance: the forked process sends the code of its question after each message.

import fs from 'node:fs';
import promises from 'node:fs/promises';
import { enableCompileCache, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { Config } from '../../src/host/settings/config.ts';
import type { BatchFolder } from '../../src/store/batch-folders.ts';
import type { CreationParams } from './create.ts';

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY);
let calls = 0;

const INSIDE_COPY = /\.incoming-\w+\/./;

/** Counts the calls of these functions, and kills the process before call `killAt`. */
function count(functions: object, names: readonly string[]): void {
  const byName = functions as Record<string, (...given: readonly unknown[]) => unknown>;
  for (const name of names) {
    const real = byName[name];
    byName[name] = (...args) => {
      calls += Number(!INSIDE_COPY.test(String(args[0])));
      if (calls === killAt) process.kill(process.pid, 'SIGKILL');
      return real?.(...args);
    };
  }
}

const CHANGES = ['mkdir', 'mkdtemp', 'rename', 'link', 'rm', 'chmod', 'open'];
count(promises, CHANGES);
count(fs, ['createWriteStream', 'writeFileSync', 'mkdirSync', 'renameSync']);
syncBuiltinESMExports();

// Tests start many of these processes in sequence.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/runsheet-creators'));
const { create } = await import('./create.ts');
const { placeReused } = await import('../../src/batches/reuse/reuse-rows.ts');
const [path = '', out = '', paramsText = '{}'] = process.argv.slice(2);
const decide: CreationParams['decide'] = async ({ open, rows }) => {
  if (process.env['REUSE']) return 'reuse';
  if (open.some((shared) => shared.rows === rows))
    throw new Error(`paramsText about ${JSON.stringify(open)}`);
  return 'again';
};
// Runs in rounds, each begun by a message that two processes get at the same moment. Like a script, it cannot answer questions.
if (process.env['ASKS']) {
  const params = JSON.parse(paramsText) as CreationParams;
  const into = process.env['INTO'];
  process.send?.('ready');
  for (;;) {
    await new Promise((begin) => process.once('message', begin));
    const making = into === undefined ? newBatch(params) : addTo(into, params);
    const said = await making.then(
      (made) => ({ made }),
      (error: unknown) => ({ refused: (error as { readonly code?: string }).code }),
    );
    process.send?.(said);
  }
}
async function newBatch(params: CreationParams): Promise<boolean> {
  const { laidOut } = await create(path, out, params);
  return laidOut !== undefined;
}

async function addTo(name: string, { places }: CreationParams): Promise<boolean> {
  const { carriedOut, withFurther } = await import('./further.ts');
  const { openBatchFolder } = await import('../../src/store/batch-folders.ts');
  const batch = (await openBatchFolder(out, name)) as BatchFolder;
  const config = { out, home: out, places } as Config;
  const added = await withFurther({ write: () => path }, { batch, name: '', text: '', config }, carriedOut);
  return added !== undefined;
}

const made = await create(path, out, { ...(JSON.parse(paramsText) as CreationParams), decide });
await placeReused(made);
const { batch, file, laidOut } = made;
console.log(JSON.stringify({ batch, mark: file.mark, made: laidOut !== undefined }));
