// The activities of this application.

import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function writeSheet(folder: string, id: string, animals: readonly string[]): Promise<string> {
  const path = join(folder, `order-${id}.csv`);
  const rows = animals.map((animal, at) => `${at + 1},a portrait of ${animal}`);
  await writeFile(path, ['number,prompt', ...rows, ''].join('\n'));
  return path;
}

export async function announce(folder: string, id: string, text: string): Promise<void> {
  await appendFile(join(folder, 'announced.txt'), `order ${id}: ${text}\n`);
}
