// Files that the run service no longer has, although their addresses are remembered.

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../../src/batches/make-batch.ts';
import { FileAddresses, UploadMemory, type FileToUpload } from '../../../src/batches/files/file-addresses.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { addResults } from '../earlier.ts';
import { withFurther } from '../further.ts';
import { contentAt, openScene, photosOf, picture, PICTURES } from './scene.ts';

const photoOf = async (made: CreatedBatch): Promise<string> => (await photosOf(made))[0] ?? '';

describe('a file that the service has lost', () => {
  it('is uploaded again for the next batch', async () => {
    const { place, make, forget } = await openScene();
    place.write('a.png', picture(1));
    place.write('one.csv', 'photo,prompt\na.png,one\n');
    place.write('two.csv', 'photo,prompt\na.png,two\n');
    await make('one.csv');
    await forget();
    expect(await contentAt(await photoOf(await make('two.csv')))).toEqual(picture(1));
  });

  it('has a new address in the rows that failed, when their sheet is sent into its batch', async () => {
    const { place, make, around, forget } = await openScene();
    place.write('a.png', picture(1));
    const text = 'photo,prompt,key\na.png,one,x\na.png,two,y\n';
    place.write('one.csv', text);
    const options = { map: {}, set: {}, drop: [], types: {}, keyColumn: 'key' };
    const batch = await make('one.csv', { more: { options } });
    await addResults(batch, { outcome: 'failed' });
    const { config } = around;
    const inputTypes = PICTURES.inputTypes.map(({ name, type }) => ({ name, type, required: false }));
    const further = { batch, name: 'one.csv', text, config, declared: { inputTypes } };
    const added = () => withFurther(place, further, (rows) => rows.carryOut());
    expect(await added()).toBeUndefined();
    await forget();
    expect(await added()).toMatchObject({ appended: 0, changed: 2 });
    expect(await added()).toBeUndefined();
  });
});

it('a remembered address is asked for once in a command, and a file that is there is not uploaded again', async () => {
  const questionIds: string[] = [];
  const sent: string[] = [];
  const opened = () =>
    new FileAddresses<FileToUpload>({
      service: { sendFile: async ({ name }) => `https://files.example/${sent.push(name)}` },
      memory: new UploadMemory(freshFolder(), 'https://gpu.example'),
      isGone: async (address) => questionIds.push(address) === 0,
      deadlineAt: undefined,
      open: () => Readable.from([]),
      changed: () => new Error('changed'),
      atService: async () => '',
    });
  const file = { path: 'a.png', sha256: 'a'.repeat(64), bytes: 0 };
  using addresses = opened();
  expect(await addresses.of(file)).toBe('https://files.example/1');
  expect([questionIds, sent]).toEqual([[], ['a.png']]);
  await addresses.check(file);
  expect(await addresses.of(file, true)).toBe('https://files.example/1');
  expect([questionIds, sent]).toEqual([['https://files.example/1'], ['a.png']]);
});
