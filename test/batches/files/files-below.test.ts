// The hint of a cell that names no file: the path of a file in another folder beside the sheet.

import { expect, it } from 'vitest';
import type { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { openScene, picture } from './scene.ts';

it.each([
  [
    'lies in a folder beside the sheet',
    'fox.png',
    'refs/a/fox.png',
    "to find them: --set 'photo=refs/a/{photo}'",
  ],
  ['lies in another folder', 'img/fox.png', 'refs/fox.png', 'did you mean refs/fox.png?'],
  ['is misspelt and lies in another folder', 'fix.png', 'refs/fox.png', 'did you mean refs/fox.png?'],
  ['lies in a hidden folder', 'fox.png', '.cache/fox.png', 'give an http address'],
  ['is another one', 'see below', 'refs/fox.png', 'give an http address'],
])('a file that %s is named with its path', async (_, cell, path, hint) => {
  const { place, make } = await openScene();
  place.write(path, picture(1));
  place.write('sheet.csv', `prompt,photo\na,${cell}\n`);
  const refused = await make('sheet.csv').catch((error: unknown) => error);
  expect((refused as SheetRefused).problems[0]?.hint).satisfy((text: string) => text.startsWith(hint));
});
