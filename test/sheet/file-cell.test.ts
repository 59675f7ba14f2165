import { describe, expect, it } from 'vitest';
import { fileCell, type FileCell } from '../../src/sheet/input-files.ts';
import { input, inputsOf, refusedBy, lay, rowsOf } from './laying.ts';

const FOX = 'https://a.example/fox.png';
const taken: FileCell = { address: FOX, isTaken: true };

describe('the cell of a file input', () => {
  it.each<[string, FileCell, string?]>([
    [FOX, { address: FOX }],
    [` ${FOX}\n`, { address: FOX }],
    [
      'https://a.example/?of=https://b.example/x.png',
      { address: 'https://a.example/?of=https://b.example/x.png' },
    ],
    ['data:image/png;base64,iVBO', { address: 'data:image/png;base64,iVBO' }],
    ['photo', taken, FOX],
    ['fox.png', { path: 'my pictures/fox.png' }, 'my%20pictures/fox.png'],
    [FOX, { address: FOX }, 'https://b.example/'],
    [`=IMAGE("${FOX}", "a fox")`, taken],
    [`=_xlfn.IMAGE("${FOX}")`, taken],
    [`=HYPERLINK("${FOX}","photo")`, taken],
    [`fox.png (${FOX})`, taken],
    [`[a fox](${FOX})`, taken],
    [`![](${FOX})`, taken],
    ['fox.png (https://a.example/fox_(1).png)', { address: 'https://a.example/fox_(1).png', isTaken: true }],
    ['pictures/fox.png', { path: 'pictures/fox.png' }],
    [String.raw`C:\pictures\fox.png`, { path: String.raw`C:\pictures\fox.png` }],
    ['file:///pictures/fox.png', { path: 'file:///pictures/fox.png' }],
    ['TODO', { path: 'TODO' }],
  ])('%j is %j', (text, cell, link?: string) => {
    expect(fileCell(text, link)).toEqual(cell);
  });

  it.each([`${FOX}, ${FOX}`, `${FOX} ${FOX}`, `${FOX}\n${FOX}`, `fox.png (${FOX}),owl.png (${FOX})`])(
    '%j has several addresses, which --split makes rows of',
    (text) => {
      expect(fileCell(text)).toMatchObject({
        what: 'several addresses, and the input takes one',
        hint: expect.stringContaining('--split') as string,
      });
    },
  );

  it.each(['s3://bucket/fox.png', 'ftp://a.example/fox.png', 'blob:https://a.example/1'])(
    '%j is an address that no service reads',
    (text) => {
      expect(fileCell(text)).toMatchObject({ what: expect.stringContaining('does not read') as string });
    },
  );
});

describe('a row with a file', () => {
  const inputTypes = [input('photo', 'image'), input('prompt', 'string')];

  it('has the address, whatever stands around it, and texts as they are', async () => {
    const text = `photo,prompt\nfox (${FOX}),fox (${FOX})\n${FOX},\n`;
    expect(await inputsOf({ text, inputTypes })).toEqual([
      `{"photo":"${FOX}","prompt":"fox (${FOX})"}`,
      `{"photo":"${FOX}"}`,
    ]);
  });

  it('is one for each of several addresses with --split, as Airtable writes them', async () => {
    const text = `photo\n"a.png (${FOX}),b (1).png (https://b.example/b.png)"\n`;
    expect(await inputsOf({ text, inputTypes, options: { split: ['photo'] } })).toEqual([
      `{"photo":"${FOX}"}`,
      '{"photo":"https://b.example/b.png"}',
    ]);
  });

  it('is known by what is in its file, wherever that was uploaded', async () => {
    const sha256 = 'a'.repeat(64);
    const keyAt = async (address: string): Promise<string | undefined> =>
      (await rowsOf({ text: `photo\n${address}#sha256=${sha256}\n`, inputTypes }))[0]?.key;
    const own = await keyAt(FOX);
    expect(await keyAt('https://b.example/1')).toBe(own);
    expect(await keyAt('upload:fox.png')).toBe(own);
    expect((await rowsOf({ text: `photo\n${FOX}\n`, inputTypes }))[0]?.key).not.toBe(own);
  });

  it('is refused with its place if the cell gives none; a constant is refused once', async () => {
    const refused = await refusedBy(lay({ text: `photo\n"${FOX},${FOX}"\nTODO\n`, inputTypes }));
    expect(refused.problems.map(({ code, place }) => [code, place?.line, place?.columnName])).toEqual([
      ['E210', 2, 'photo'],
      ['E210', 3, 'photo'],
    ]);
    expect(refused.problems[0]).toMatchObject({ correction: { add: [['--map', 'photo=photo.0']] } });
    const constant = { text: 'prompt\na\nb\nc\n', inputTypes, options: { set: { photo: 'TODO' } } };
    expect((await refusedBy(lay(constant))).problems.map(({ message }) => message)).toEqual([
      '"TODO" in --set photo is not an address',
    ]);
  });

  it('is a text if its user says so, and the default of the deployment', async () => {
    const text = 'photo\nTODO\n';
    expect(await inputsOf({ text, inputTypes, options: { types: { photo: 'string' } } })).toEqual([
      '{"photo":"TODO"}',
    ]);
    const usual = [input('photo', 'image', { default: 'example.png' })];
    expect(await inputsOf({ text: 'photo\nexample.png\n', inputTypes: usual })).toEqual([
      '{"photo":"example.png"}',
    ]);
  });
});
