// Files inside the answers of vendors: none of their bytes goes through the database.

import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { answerFile, madeIn } from '../../src/run-service/executors/vendors/answer-files.ts';
import { encodePng } from '../../src/run-service/executors/rehearsal/pictures/pictures.ts';

const PNG = encodePng({ width: 8, height: 8, pixels: new Uint8Array(64) }, Buffer.from([1, 2, 3]), 'fox');
const BASE64 = PNG.toString('base64');
const DATA = `data:image/png;base64,${BASE64}`;

const OUTPUTS: readonly (readonly [what: string, output: unknown, names: readonly string[]])[] = [
  ['of worker-comfyui', { images: [{ filename: 'a_1.png', type: 'base64', data: BASE64 }] }, ['a_1.png']],
  ['as one base64 text', BASE64, ['output.png']],
  ['as a data URI that stands there twice', { image_url: DATA, images: [DATA] }, ['output.png']],
  ['of any format that has a name', { filename: 'b.xyz', type: 'base64', data: BASE64 }, ['b.xyz']],
];

describe('an answer with a file', () => {
  it.each(OUTPUTS)('%s is stored by its place, and read from the answer again', async (_, output, names) => {
    const [made] = madeIn(output, 'endpoint/job');
    expect(made?.files.map(({ filename }) => filename)).toEqual(names);
    expect(JSON.stringify(made)).not.toContain(BASE64.slice(0, 40));
    const refs: string[] = [];
    const [file] = made?.files ?? [];
    const stream = await answerFile(file ?? { filename: '', subfolder: '', type: '' }, 'http://x', (ref) => {
      refs.push(ref);
      return Promise.resolve(output);
    });
    expect(stream && (await buffer(stream))).toEqual(PNG);
    expect(refs).toEqual(['endpoint/job']);
  });

  it('that the vendor has deleted is no file', async () => {
    const [made] = madeIn(DATA, 'endpoint/job');
    const [file] = made?.files ?? [];
    expect(file && (await answerFile(file, 'http://x', () => Promise.resolve(undefined)))).toBeUndefined();
  });
});

describe('an answer without a file', () => {
  it.each([
    [['a fox ', 'runs'], ['a fox runs']],
    ['AAAA is no film', ['AAAA is no film']],
    [{ filename: 'x', type: 'text', data: 'plain words' }, [expect.stringContaining('plain words')]],
  ])('is its text: %j', (output, texts) => {
    expect(madeIn(output, 'endpoint/job')).toEqual([{ node: '', key: 'output', files: [], texts }]);
  });

  it('names an address after its path', () => {
    const url = 'https://files.example/a/fox.webp?signature=1';
    expect(madeIn({ images: [{ filename: 'fox.png', type: 's3_url', data: url }] }, 'e/j')[0]?.files).toEqual(
      [{ filename: 'fox.png', subfolder: '', type: 'output', asset: url }],
    );
    expect(madeIn([url], 'e/j')[0]?.files[0]?.filename).toBe('fox.webp');
  });
});
