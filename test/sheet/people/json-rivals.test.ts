// Settings in the object that has the text of a row, beside columns and choices that contradict them.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const json = { format: 'json' } as const;
const inputTypes = [
  input('prompt', 'string', { required: true }),
  input('seed', 'seed'),
  input('width', 'int'),
  input('height', 'int'),
  input('sampler', 'string', { options: ['euler', 'euler_a', 'dpmpp_2m'] }),
];
const readRows = (rows: readonly unknown[], options = {}) =>
  read('a.json', JSON.stringify(rows), { ...json, ...options }, { inputTypes });
const questionsIn = (guesses: readonly string[]): readonly string[] =>
  guesses.filter((guess) => guess.startsWith('? ') && !guess.includes('gets meta.prompt'));

describe('settings in the object of the text', () => {
  const rows = [
    { width: 1024, height: 1536, seed: 9, meta: { prompt: 'a', Size: '512x768', seed: 1 } },
    { width: 1024, height: 1024, seed: 9, meta: { prompt: 'b', Size: '512x512', seed: 2 } },
  ];
  const own = [
    '{"height":768,"prompt":"a","seed":1,"width":512}',
    '{"height":512,"prompt":"b","seed":2,"width":512}',
  ];

  it('are asked about where columns have other values', async () => {
    const proposed = await readRows(rows);
    expect(proposed.rows).toEqual(own);
    expect(questionsIn(proposed.guesses)).toEqual([
      '? "meta" has settings of its own, which are sent instead of columns: meta.seed 1 (column "seed"), meta.Size 512x768 (column "width"), meta.Size 512x768 (column "height"); to send the columns: --map seed=seed --map width=width --map height=height (--map seed=meta.seed --map width=meta.Size --map height=meta.Size --drop seed --drop width --drop height)',
    ]);
    const map = { seed: 'meta.seed', width: 'meta.Size', height: 'meta.Size' };
    const accepted = await readRows(rows, { map, drop: ['seed', 'width', 'height'] });
    expect([accepted.rows, questionsIn(accepted.guesses)]).toEqual([own, []]);
    const outer = await readRows(rows, { map: { seed: 'seed', width: 'width', height: 'height' } });
    expect(outer.rows[0]).toBe('{"height":1536,"prompt":"a","seed":9,"width":1024}');
    expect(questionsIn(outer.guesses)).toEqual([]);
  });

  it('are no question where columns have the same values', async () => {
    const same = [
      { width: 512, height: 768, seed: 1, meta: { prompt: 'a', Size: '512x768', seed: 1 } },
      { width: 640, height: 640, seed: 2, meta: { prompt: 'b', Size: '640x640', seed: 2 } },
    ];
    expect(questionsIn((await readRows(same)).guesses)).toEqual([]);
  });

  it('are no question in an object without the text', async () => {
    const pictures = [{ prompt: 'a', width: 512, height: 768, stats: { width: 3 } }];
    expect((await readRows(pictures)).guesses.join()).not.toContain('settings of its own');
  });

  it('with a size alone are a width and a height', async () => {
    const sized = rows.map(({ meta }) => ({ meta: { ...meta, title: 'x' }, id: meta.seed, likes: 2 }));
    const { rows: sent } = await readRows(sized, { map: { prompt: 'meta.prompt' } });
    expect(sent.map((row) => row.slice(2))).toEqual(own);
  });
});

describe('a part of an object', () => {
  const rows = [
    { id: 1, seed: 3, meta: { prompt: 'a', sampler: 'Euler a' } },
    { id: 2, seed: 4, meta: { prompt: 'b', sampler: 'DPM++ 2M Karras' } },
  ];

  it('with a value that is no choice of the input is asked about', async () => {
    const { rows: sent, guesses } = await readRows(rows);
    expect(sent).toEqual(['1 {"prompt":"a","seed":3}', '2 {"prompt":"b","seed":4}']);
    expect(questionsIn(guesses)).toEqual([
      '? "meta.sampler" is not sent: "DPM++ 2M Karras" is no value of the input sampler (euler euler_a dpmpp_2m); to send it, and correct such values: --map sampler=meta.sampler (--drop meta.sampler)',
    ]);
    await expect(readRows(rows, { map: { sampler: 'meta.sampler' } })).rejects.toMatchObject({
      problems: [{ code: 'E201' }],
    });
  });

  it('is left out by its path', async () => {
    const spelt = [{ id: 1, seed: 3, meta: { prompt: 'a', sampler: 'Euler a' } }];
    expect((await readRows(spelt)).rows).toEqual(['1 {"prompt":"a","sampler":"euler_a","seed":3}']);
    const without = await readRows(spelt, { drop: ['meta.sampler'] });
    expect([without.rows, questionsIn(without.guesses)]).toEqual([['1 {"prompt":"a","seed":3}'], []]);
    await expect(readRows(spelt, { drop: ['meta.sampl'] })).rejects.toMatchObject({ code: 'E206' });
  });
});
