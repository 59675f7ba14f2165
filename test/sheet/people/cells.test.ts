// Cells as people, spreadsheets and programs write them.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

describe('cells', () => {
  it('with words for nothing are empty, which is asked', async () => {
    const text = 'prompt,seed,cfg\na,N/A,7\nb,None,-\nc,3,nan\n';
    expect(await read('a.csv', text)).toEqual({
      rows: ['{"cfg":7,"prompt":"a"}', '{"prompt":"b"}', '{"prompt":"c","seed":3}'],
      guesses: [
        '? 4 cells N/A, None, -, nan are taken for empty; to send all of them: --null keep (--null N/A,None,-,nan)',
      ],
    });
    const prompts = await read('a.csv', 'prompt,seed\nnone,1\nb,2\n', { null: ['keep'] });
    expect(prompts.rows).toEqual(['{"prompt":"none","seed":1}', '{"prompt":"b","seed":2}']);
  });

  it('of a template with words for nothing are empty too, and errors of formulas are refused', async () => {
    const set = { prompt: '{product} in {style}' };
    expect(await read('a.csv', 'product,style\nmug,\\N\nlamp,ink\n', { set })).toEqual({
      rows: ['{"prompt":"mug in "}', '{"prompt":"lamp in ink"}'],
      guesses: [
        "? 1 cell \\N is taken for empty; to send all of them: --null keep (--null '\\N')",
        expect.stringMatching(/^\? the text of prompt lacks "style" in row 2,/),
      ],
    });
    await expect(read('a.csv', 'product,style\nmug,#N/A\nlamp,ink\n', { set })).rejects.toMatchObject({
      byCode: { E207: 1 },
      problems: [{ message: '"#N/A" in column "style" is an error of a formula' }],
    });
  });

  it('of a template may be empty where others are not, but an input that is required and a row need one', async () => {
    const set = { prompt: '{product}' };
    expect((await read('a.csv', 'product,seed\nmug,1\nlamp,\n', { set })).rows).toEqual([
      '{"prompt":"mug","seed":1}',
      '{"prompt":"lamp"}',
    ]);
    await expect(read('a.csv', 'product,seed\nmug,1\n,2\n', { set })).rejects.toMatchObject({
      byCode: { E203: 1 },
      problems: [{ place: { line: 3 }, correction: { add: [['--invalid', 'skip']] } }],
    });
    const photo = { set: { prompt: 'a photo of {product} in {style}' }, grid: { style: ['oil', 'ink'] } };
    await expect(read('a.csv', 'sku,product\n1,mug\n2,\n', photo)).rejects.toMatchObject({
      code: 'E112',
      hint: 'if they are not rows of the batch, add: --invalid skip',
    });
  });

  it('with a choice that is a word for nothing are that choice', async () => {
    const inputTypes = [
      input('prompt', 'string', { required: true }),
      input('upscaler', 'enum', { options: ['None', 'x4'] }),
    ];
    expect(await read('a.csv', 'prompt,upscaler\na,None\nb,x4\n', {}, { inputTypes })).toMatchObject({
      rows: ['{"prompt":"a","upscaler":"None"}', '{"prompt":"b","upscaler":"x4"}'],
      guesses: [],
    });
  });

  it.each(['#N/A', '#REF!', '#VALUE!', '#DIV/0!', '#NAME?', '#ERROR!'])(
    'with %s are refused, as in a workbook',
    async (word) => {
      await expect(read('a.csv', `prompt,seed\na,1\n${word},2\n`)).rejects.toMatchObject({
        problems: [expect.objectContaining({ code: 'E207' })],
      });
    },
  );

  it('with percentages are fractions, which is asked unless the input takes at most 1', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,denoise,cfg\na,60%,"12,5 %"\nb,.6,7\n', {
      decimalComma: true,
    });
    expect(rows).toEqual([
      '{"cfg":0.125,"denoise":0.6,"prompt":"a"}',
      '{"cfg":7,"denoise":0.6,"prompt":"b"}',
    ]);
    expect(guesses).toEqual([
      'column "denoise": percentages are read as fractions, 25 % as 0.25',
      '? column "cfg": percentages are read as fractions, 25 % as 0.25 (--type cfg=float)',
    ]);
  });

  it('with a mark mean true, which is asked', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('hires', 'bool')];
    expect(await read('a.csv', 'prompt,hires\na,x\nb,\nc,0\n', {}, { inputTypes })).toEqual({
      rows: ['{"hires":true,"prompt":"a"}', '{"prompt":"b"}', '{"hires":false,"prompt":"c"}'],
      guesses: ['? column "hires": x means true (--type hires=bool)'],
    });
  });

  it('with decimal points and decimal commas are numbers if none may be thousands', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,cfg\na,"7,5"\nb,6.5\n');
    expect(rows).toEqual(['{"cfg":7.5,"prompt":"a"}', '{"cfg":6.5,"prompt":"b"}']);
    expect(guesses).toEqual(['? numbers have a decimal comma in "cfg" (--decimal-comma)']);
    await expect(read('a.csv', 'prompt,cfg\na,"7,5"\nb,1.500\n')).rejects.toMatchObject({ code: 'E200' });
  });

  it('with one unit are numbers, which is asked', async () => {
    expect(await read('a.csv', 'prompt,seed,cfg\na,20 steps,7.5x\nb,30,8\n')).toEqual({
      rows: ['{"cfg":7.5,"prompt":"a","seed":20}', '{"cfg":8,"prompt":"b","seed":30}'],
      guesses: [
        '? column "seed": 20 steps is read as 20 (--type seed=int)',
        '? column "cfg": 7.5x is read as 7.5 (--type cfg=float)',
      ],
    });
    await expect(read('a.csv', 'prompt,seed\na,5px\nb,8 sec\n')).rejects.toMatchObject({ code: 'E200' });
  });

  it('with a choice in the words of people are that choice', async () => {
    const inputTypes = [
      input('prompt', 'string', { required: true }),
      input('sampler', 'enum', { options: ['euler_a', 'dpmpp_2m'] }),
    ];
    const { rows } = await read('a.csv', 'prompt,sampler\na,Euler a\nb,DPM++ 2M\n', {}, { inputTypes });
    expect(rows).toEqual(['{"prompt":"a","sampler":"euler_a"}', '{"prompt":"b","sampler":"dpmpp_2m"}']);
    const { rows: set } = await read('a.csv', 'prompt\na\n', { set: { sampler: 'Euler a' } }, { inputTypes });
    expect(set).toEqual(['{"prompt":"a","sampler":"euler_a"}']);
  });

  it('of a number with the word random are empty, which is asked', async () => {
    expect(await read('a.csv', 'prompt,seed\na,random\nb,2\n')).toMatchObject({
      guesses: ['? 1 cell random is taken for empty; to send all of them: --null keep (--null random)'],
    });
  });

  it('of a number may begin with zeros', async () => {
    expect(await read('a.csv', 'prompt,seed\na,007\n')).toEqual({
      rows: ['{"prompt":"a","seed":7}'],
      guesses: [],
    });
  });
});
