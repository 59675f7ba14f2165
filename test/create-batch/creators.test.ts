// Batches made by several processes at the same moment.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ASKED, type Asked, filesBelow, Place, wholeBatch } from './creating.ts';

const CREATOR = fileURLToPath(import.meta.resolve('./creator.ts'));
/** Two pages. */
const SHEET = `number\n${Array.from({ length: 700 }, (_, at) => `${at}\n`).join('')}`;

type Made = { readonly batch: string; readonly mark: string; readonly made: boolean };

/** What each creator came to; all of them begin at the same moment. */
async function together(place: Place, all: readonly (readonly [string, Asked])[]): Promise<readonly Made[]> {
  const children = all.map(([name, asked]) =>
    fork(CREATOR, [join(place.folder, name), place.out, JSON.stringify(asked)], { silent: true }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const outputs = children.map(async (child) => {
    let [output, error] = ['', ''];
    child.stdout?.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr?.on('data', (part: Buffer) => (error += part.toString()));
    child.send('begin');
    await once(child, 'close');
    if (output === '') throw new Error(error);
    return JSON.parse(output) as Made;
  });
  return Promise.all(outputs);
}

describe('concurrent creators of the same content', () => {
  it('create one batch, whatever their settings are', async () => {
    const place = new Place();
    const { settings } = ASKED;
    place.write('sheet.csv', SHEET);
    const made = await together(
      place,
      [1, 2, 3, 4].map((concurrency) => ['sheet.csv', { settings: { ...settings, concurrency } }]),
    );
    expect(new Set(made.map(({ mark }) => mark)).size).toBe(1);
    expect(made.filter((one) => one.made)).toHaveLength(1);
    const [{ batch, mark }] = made as [Made];
    expect(filesBelow(join(place.out, batch))).toEqual(
      wholeBatch({ mark, sheet: { file: 'sheet.csv', pages: 2, isQueued: false, lanes: [] } }),
    );
    expect(place.names()).toHaveLength(1);
  });

  it('also create one batch of files with different names', async () => {
    const place = new Place();
    for (let round = 0; round < 2; round += 1) {
      const names = ['a', 'b', 'c'].map((name) => `${name}-${round}.csv`);
      for (const name of names) place.write(name, `${SHEET}${round + 1_000}\n`);
      const made = await together(
        place,
        names.map((name) => [name, {}]),
      );
      expect(new Set(made.map(({ mark }) => mark)).size).toBe(1);
    }
    expect(place.names()).toHaveLength(2);
  });
});
