// The activities of the pipeline. Each may be repeated after a kill, and writes the same again.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function writeDrafts(folder: string, id: string, prompts: readonly string[]): Promise<string> {
  const rows = prompts.map((prompt, at) => ({ number: at + 1, prompt }));
  return writeRows(join(folder, `drafts-${id}.jsonl`), rows);
}

/** The part of a line of results.jsonl that matters here. */
type Draft = {
  readonly key: string;
  readonly outcome: string;
  readonly inputs: { readonly prompt: string };
};

/** The drafts that succeeded and were picked, or all that succeeded; the inputs of the next batch. */
export async function writePicks(
  batch: string,
  folder: string,
  id: string,
  keys: readonly string[],
): Promise<string> {
  const lines = (await readFile(join(batch, 'results.jsonl'), 'utf8')).trim().split('\n');
  const drafts = lines.map((line) => JSON.parse(line) as Draft);
  const wanted = new Set(keys);
  const rows = drafts
    .filter(({ outcome }) => outcome === 'succeeded')
    .filter(({ key }) => wanted.size === 0 || wanted.has(key))
    .map(({ key, inputs }) => ({ number: key, prompt: `${inputs.prompt}, in high resolution` }));
  return writeRows(join(folder, `picks-${id}.jsonl`), rows);
}

export async function notify(folder: string, id: string, text: string): Promise<void> {
  await writeFile(join(folder, `notified-${id}.txt`), `${text}\n`);
}

async function writeRows(path: string, rows: readonly object[]): Promise<string> {
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}
