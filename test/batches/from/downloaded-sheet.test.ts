import { relative } from 'node:path';
import { expect, it } from 'vitest';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { addResults } from '../earlier.ts';
import { openScene, picture } from '../files/scene.ts';

it('a batch of the rows of a sheet that was downloaded names no files of this machine either', async () => {
  const { place, make, uploads } = await openScene();
  const options = { map: {}, set: {}, types: {}, drop: ['ref'] };
  const secret = relative(process.cwd(), place.write('private/key.png', picture(1)));
  place.write('downloaded.csv', `photo,ref\nhttps://a.example/owl.png,${secret}\n`);
  const from = await make('downloaded.csv', { isRemote: true, more: { options } });
  await addResults(from);
  const more = {
    options: { ...options, drop: [], map: { photo: 'ref' } },
    answers: { outsideFiles: 'accept' as const },
  };
  const refused = await make('', { from, more }).then(undefined, (error: unknown) => error);
  expect(refused).toBeInstanceOf(SheetRefused);
  expect((refused as SheetRefused).problems.map(({ code }) => code)).toEqual(['E210']);
  expect(uploads()).toBe(0);
});
