import { describe, expect, it } from 'vitest';
import { withoutMarks } from '../../../src/service-client/contract/file-inputs.ts';
import { readPage } from '../../../src/sheet/pages.ts';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { layoutOf } from '../../../src/store/batch-file.ts';
import { contentAt, openScene, picture } from './scene.ts';

const FAR = 'https://gpu.example/far.png';

describe('an input that takes a list of files', () => {
  const types = { frames: 'files' as const };
  const options = { map: {}, set: {}, drop: ['photo'], types };
  const LISTS: [string, string, unknown][] = [
    ['with a separator in a CSV', 'sheet.csv', '"p/1.png, p/2.png"'],
    ['as JSON in a CSV', 'sheet.csv', '"[""p/1.png"",""p/2.png""]"'],
    ['as a list of a JSON sheet', 'sheet.jsonl', ['p/1.png', 'p/2.png']],
  ];

  it.each(LISTS)('has those of this machine uploaded: %s', async (_, name, cell) => {
    const { place, proposed, make, uploads } = await openScene();
    for (const at of [1, 2]) place.write(`p/${at}.png`, picture(at));
    const text =
      typeof cell === 'string'
        ? `photo,views,frames\n${FAR},${cell},${cell}\n`
        : `${JSON.stringify({ photo: FAR, views: cell, frames: cell })}\n`;
    place.write(name, text);
    const more = { options: { ...options, drop: [] } };
    const before = await proposed(name, { more }, async ({ draft }) => draft?.content);
    const batch = await make(name, { more });
    expect(batch.file.content).toBe(before);
    expect(uploads()).toBe(2);
    const [row] = await readPage(layoutOf(batch.store, batch.file), 1);
    const { views, frames } = withoutMarks(row?.inputs ?? {});
    const lists = [JSON.parse(String(views)) as string[], frames as string[]];
    for (const list of lists) {
      expect(JSON.stringify(list)).not.toContain('sha256');
      expect(await Promise.all(list.map(contentAt))).toEqual([picture(1), picture(2)]);
    }
  });

  it('is refused with the one that is missing, and keeps an empty list', async () => {
    const { place, make } = await openScene();
    place.write('p/1.png', picture(1));
    place.write('sheet.csv', `photo,views\n${FAR},p/1.png;p/3.png\n${FAR},[]\n`);
    const refused = await make('sheet.csv').then(undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(SheetRefused);
    expect((refused as SheetRefused).problems.map(({ code, message }) => [code, message])).toEqual([
      ['E210', expect.stringMatching(/"p\/3\.png" in column "views" is neither/)],
    ]);
  });
});
