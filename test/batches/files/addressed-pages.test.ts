// Pages of a sheet whose files were uploaded after it was laid out.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addressPages } from '../../../src/batches/files/addressed-pages.ts';
import {
  beforeUpload,
  hasMarks,
  marked,
  withAddresses,
} from '../../../src/service-client/contract/file-inputs.ts';
import { pageName, readPage } from '../../../src/sheet/pages.ts';
import { readBatchSheet, sheetRows } from '../../../src/sheet/placed-rows.ts';
import { layoutOf } from '../../../src/store/batch-file.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { withFurther } from '../further.ts';
import { contentAt, openScene, picture, PICTURES } from './scene.ts';

const ODD = 'b "ö" \\ 100%.png';
const ROWS = [
  { key: 'x', photo: 'a.png', views: ['a.png', ODD] },
  { key: 'y', photo: ODD, views: ['a.png'] },
];

/** The copy of the sheet has other text by now, which no layout would take. */
function ruin(layout: Store | undefined): void {
  const folder = layout?.location ?? '';
  const name = readdirSync(folder).find((file) => file.startsWith('sheet')) ?? '';
  expect(readFileSync(join(folder, name), 'utf8')).toContain('a.png');
  writeFileSync(join(folder, name), 'ruined');
}

const contentsOf = async (value: unknown): Promise<readonly Buffer[]> => {
  const addresses = Array.isArray(value)
    ? value
    : String(value).startsWith('[')
      ? JSON.parse(String(value))
      : [value];
  return Promise.all((addresses as string[]).map(contentAt));
};

describe('an upload', () => {
  it('gives the rows of a new batch their addresses, and its sheet is read no more', async () => {
    const { place, proposed } = await openScene();
    place.write('a.png', picture(1));
    place.write(ODD, picture(2));
    place.write('sheet.json', JSON.stringify(ROWS));
    const options = { map: {}, set: {}, drop: [], types: {}, keyColumn: 'key' };
    const made = await proposed('sheet.json', { more: { options } }, (proposal) => {
      ruin(proposal.draft?.layout);
      return proposal.carryOut();
    });
    const [first, second] = await readPage(layoutOf(made.store, made.file), 1);
    expect(await contentsOf(first?.inputs['photo'])).toEqual([picture(1)]);
    expect(await contentsOf(first?.inputs['views'])).toEqual([picture(1), picture(2)]);
    expect(await contentsOf(second?.inputs['photo'])).toEqual([picture(2)]);
  });

  it('gives rows that are added to a batch their addresses, and their sheet is read no more', async () => {
    const { place, make, around } = await openScene();
    place.write('a.png', picture(1));
    place.write('b.png', picture(2));
    place.write('sheet.csv', 'photo,prompt,key\na.png,one,x\n');
    const options = { map: {}, set: {}, drop: [], types: {}, keyColumn: 'key' };
    const batch = await make('sheet.csv', { more: { options } });
    const inputTypes = PICTURES.inputTypes.map(({ name, type }) => ({ name, type, required: false }));
    const text = 'photo,prompt,key\na.png,one,x\nb.png,two,y\n';
    const further = { batch, name: 'sheet.csv', text, config: around.config, declared: { inputTypes } };
    await withFurther(place, further, async (rows) => {
      ruin(rows.further?.sheet.layout);
      expect(await rows.carryOut()).toMatchObject({ appended: 1, changed: 0 });
    });
    const sheet = await readBatchSheet(batch.store, batch.file);
    const [added] = await Array.fromAsync(sheetRows(layoutOf(batch.store, batch.file), sheet, 2, 2));
    expect(await contentsOf(added?.row.inputs['photo'])).toEqual([picture(2)]);
  });
});

const row = (at: number, photo: string): string =>
  `${JSON.stringify({ row: at, key: String(at), inputs: { photo } })}\n`;

describe('a page', () => {
  const mark = beforeUpload('a.png', 'a'.repeat(64));

  it('that becomes too large is refused, with its first row that does not fit', async () => {
    const layout = openStore(freshFolder());
    await layout.write(pageName(1), row(1, mark) + row(2, mark));
    await layout.write(pageName(2), row(501, mark) + row(502, mark));
    const pages = { layout, pages: 2, file: 'sheet.csv' };
    const long = `https://files.example/${'x'.repeat(500)}`;
    await expect(addressPages(pages, () => long, 900)).rejects.toMatchObject({
      code: 'E108',
      place: { file: 'sheet.csv', row: 2 },
    });
  });

  it('keeps what is no mark, and all digits', async () => {
    const layout = openStore(freshFolder());
    const kept =
      row(1, `a text about upload:b.png#sha256=${'b'.repeat(64)} and more`) +
      '{"row":2,"key":"2","inputs":{"seed":12345678901234567890}}\n';
    await layout.write(pageName(1), kept + row(3, mark));
    const addressOf = (sha256: string) => (sha256.startsWith('a') ? 'https://files.example/1' : undefined);
    await addressPages({ layout, pages: 1, file: 'sheet.csv' }, addressOf);
    expect(await layout.read(pageName(1))).toBe(
      kept + row(3, `https://files.example/1#sha256=${'a'.repeat(64)}`),
    );
  });
});

describe('rows in JSON', () => {
  const sha256 = 'b'.repeat(64);
  const addressOf = (content: string): string | undefined =>
    content === sha256 ? 'https://files.example/b' : undefined;
  const mark = beforeUpload('a b#c.png', sha256);
  const old = marked('https://files.example/old', sha256);

  it.each([
    ['a mark', mark, marked('https://files.example/b', sha256)],
    ['an address that the service has lost', old, marked('https://files.example/b', sha256)],
    ['a mark in a text', `like ${mark} in oil`, 'like https://files.example/b in oil'],
    [
      'a mark in an address',
      `https://proxy.example/?w=9&url=${mark}`,
      'https://proxy.example/?w=9&url=https://files.example/b',
    ],
    [
      'marks in a list as text',
      JSON.stringify([mark, old]),
      JSON.stringify([marked('https://files.example/b', sha256), marked('https://files.example/b', sha256)]),
    ],
  ])('have the address of the file for %s', (_, value, sent) => {
    const made = withAddresses(JSON.stringify({ value }), addressOf);
    expect(JSON.parse(made)).toEqual({ value: sent });
    expect(hasMarks(made)).toBe(false);
  });

  it('keep a mark of which no address is known, and a page with one is refused', async () => {
    const unknown = JSON.stringify({ value: beforeUpload('a.png', 'c'.repeat(64)) });
    expect([withAddresses(unknown, addressOf), hasMarks(unknown)]).toEqual([unknown, true]);
    const layout = openStore(freshFolder());
    await layout.write(pageName(1), row(1, beforeUpload('a.png', 'c'.repeat(64))));
    await expect(addressPages({ layout, pages: 1, file: 'sheet.csv' }, addressOf)).rejects.toMatchObject({
      code: 'E504',
    });
  });
});
