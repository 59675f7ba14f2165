// Columns called width and height beside a workflow, whose numbers may be no sizes in pixels.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const INPUTS = [
  input('prompt', 'string', { required: true }),
  input('width', 'integer', { fields: ['5.width'] }),
  input('height', 'integer', { fields: ['5.height'] }),
];
const readSizes = (text: string) => read('a.csv', text, {}, { inputTypes: INPUTS });

const MEANT = (name: string, size: number) =>
  `? ${name} ${size} is not a multiple of 8; a model may round it; to leave column "${name}" out: --drop ${name} (--map ${name}=${name})`;

describe('sizes of a sheet', () => {
  it('are sent by themselves if they are multiples of 8', async () => {
    expect(await readSizes('prompt,width,height\na,1080,1920\n')).toEqual({
      rows: ['{"5.height":1920,"5.width":1080,"prompt":"a"}'],
      guesses: [],
    });
  });

  it('are proposed to be sent if they are whole numbers that a model may round', async () => {
    expect(await readSizes('prompt,width,height\na,1080,1350\n')).toEqual({
      rows: ['{"5.height":1350,"5.width":1080,"prompt":"a"}'],
      guesses: [MEANT('height', 1350)],
    });
    expect(await readSizes('prompt,width,height\na,640,320\nb,300,200\n')).toEqual({
      rows: ['{"5.height":320,"5.width":640,"prompt":"a"}', '{"5.height":200,"5.width":300,"prompt":"b"}'],
      guesses: [MEANT('width', 300)],
    });
  });

  it.each([
    ['127', '160'],
    ['30.5', '1080'],
    ['20,5', '150'],
  ])('are left out together if one of them is no size: width %s beside height %s', async (width, height) => {
    expect(await readSizes(`prompt,width,height\na,"${width}",${height}\n`)).toEqual({
      rows: ['{"prompt":"a"}'],
      guesses: [
        '? column "width" is not sent, because a size in pixels is a whole number of at least 128; to send it: --map width=width (--drop width)',
        '? column "height" is not sent, because "width" beside it is no size in pixels; to send it: --map height=height (--drop height)',
      ],
    });
  });
});
