// Rows of a batch that a row of the sheet becomes: by a grid, by the values of a cell, by runs with other seeds; and conditions.

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { readCells } from '../../../src/sheet/read-records.ts';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { collected, input, opened, PLAIN } from '../laying.ts';
import { FILES } from '../xlsx/workbooks.ts';
import { read as readSheet, readAt } from './reading.ts';

const readText = (text: string, options: Partial<SheetOptions>, reading?: Parameters<typeof readSheet>[3]) =>
  readSheet(`sheet.${options.format ?? 'csv'}`, text, options, reading);

const rowsOf = async (text: string, options: Partial<SheetOptions>): Promise<readonly string[]> =>
  (await readText(text, options)).rows;

const refusalOf = async (
  text: string,
  options: Partial<SheetOptions>,
): Promise<readonly (string | undefined)[]> => {
  const error = (await readText(text, options).catch((thrown: unknown) => thrown)) as RunsheetError;
  return [error.code, error.message, error.hint];
};

const SET = { set: { prompt: 'a {what} in {style}' } };

describe('a grid', () => {
  it('runs each row with every combination, and keys name their values', async () => {
    const grid = { style: ['oil', 'water colour'], seed: ['1', '2'] };
    expect(await rowsOf('name,what\nfox,red fox\nowl,owl\n', { ...SET, grid })).toEqual([
      'fox-oil-1 {"prompt":"a red fox in oil","seed":1}',
      'fox-oil-2 {"prompt":"a red fox in oil","seed":2}',
      'fox-water-colour-1 {"prompt":"a red fox in water colour","seed":1}',
      'fox-water-colour-2 {"prompt":"a red fox in water colour","seed":2}',
      'owl-oil-1 {"prompt":"a owl in oil","seed":1}',
      'owl-oil-2 {"prompt":"a owl in oil","seed":2}',
      'owl-water-colour-1 {"prompt":"a owl in water colour","seed":1}',
      'owl-water-colour-2 {"prompt":"a owl in water colour","seed":2}',
    ]);
  });

  it.each([
    [{ 'guidance scale': ['1', '2'] }, [input('cfg', 'float'), input('guidance', 'float')]],
    [{ seed: ['1'], 'noise seed': ['3', '4'] }, [input('seed', 'seed')]],
  ])('of which an axis would fill no input is refused: %j', async (grid, moreInputs) => {
    const reading = { inputTypes: [input('prompt', 'string', { required: true }), ...moreInputs] };
    await expect(readText('id,prompt\na,fox\n', { grid }, reading)).rejects.toMatchObject({ code: 'E602' });
  });

  it.each([
    [{ style: ['x', 'x-y'], prompt: ['y-z', 'z'] }],
    [{ style: ['caf\u00e9', 'cafe\u0301'], prompt: ['a', 'b'] }],
    [{ style: ['a b', 'a/b'], prompt: ['Fox', 'fox'] }],
  ])('names each row with a name of its own, whatever its values: %j', async (grid) => {
    const inputTypes = [input('prompt', 'string'), input('style', 'string')];
    const { rows } = await readText('{}\n', { grid, format: 'jsonl' }, { inputTypes });
    const keys = rows.map((row) => row.split(' ')[0]?.normalize('NFC').toLowerCase());
    expect(new Set(keys).size).toBe(4);
  });

  it('names its rows if it is alone, by numbers where values are long', async () => {
    const grid = { prompt: ['a fox that jumps over a lazy dog', 'an owl'], cfg: ['7.5', '8'] };
    expect(await rowsOf('{}\n', { grid, format: 'jsonl' })).toEqual([
      '1-7.5 {"cfg":7.5,"prompt":"a fox that jumps over a lazy dog"}',
      '1-8 {"cfg":8,"prompt":"a fox that jumps over a lazy dog"}',
      '2-7.5 {"cfg":7.5,"prompt":"an owl"}',
      '2-8 {"cfg":8,"prompt":"an owl"}',
    ]);
  });

  it('may have GPUs, and an empty value that leaves the input out', async () => {
    expect(await rowsOf('prompt\na\n', { grid: { gpu: ['a10g', 'H100'], seed: ['', '5'] } })).toEqual([
      '{"prompt":"a"} A10G',
      '{"prompt":"a","seed":5} A10G',
      '{"prompt":"a"} H100',
      '{"prompt":"a","seed":5} H100',
    ]);
  });

  it.each<readonly [what: string, options: Partial<SheetOptions>, message: string, hint: string]>([
    [
      'no input',
      { grid: { promt: ['a'] } },
      '--grid promt: the deployment has no input "promt", and no template takes it',
      'did you mean prompt?',
    ],
    [
      'no value of its type',
      { grid: { cfg: ['7', 'x'] } },
      '--grid cfg=x: the value is not a finite number',
      '7.5',
    ],
    [
      'a value that is too large',
      { grid: { denoise: ['2'] } },
      '--grid denoise=2: the value is too large',
      'at most 1',
    ],
    [
      'no GPU',
      { grid: { gpu: ['H10'] } },
      '--grid gpu=H10 is not a GPU of this service',
      'did you mean H100?',
    ],
    [
      'the name of a column',
      { grid: { Seed: ['1'] } },
      '--grid Seed: the sheet has the column "seed" too',
      '--split seed',
    ],
    [
      'a constant',
      { grid: { cfg: ['1'] }, set: { cfg: '2' } },
      '--grid cfg and --set cfg both provide the input',
      'remove one',
    ],
    [
      'a seed to count on that is dropped',
      { grid: { cfg: ['1'] }, repeat: { by: 2 }, drop: ['seed'] },
      '--repeat counts the input seed, and --drop seed drops it',
      'leave --drop out',
    ],
    [
      'rows of a missing column',
      { repeat: { by: 'often' } },
      'column "often" of --repeat is not in the sheet',
      'prompt',
    ],
  ])('is refused for %s', async (_, options, message, hint) => {
    expect(await refusalOf('prompt,seed\na,1\n', options)).toEqual([
      message.includes('often') ? 'E206' : 'E602',
      message,
      expect.stringContaining(hint),
    ]);
  });
});

describe('several runs of a row', () => {
  it('count its seed on, exactly, and draw the same one again for a row that has none', async () => {
    const text = 'id,prompt,seed\na,fox,18446744073709551614\nb,owl,\n';
    const rows = await rowsOf(text, { repeat: { by: 2 } });
    const drawn = Number(/"seed":(\d+)/.exec(rows[2] ?? '')?.[1]);
    expect(rows).toEqual([
      'a-1 {"prompt":"fox","seed":18446744073709551614}',
      'a-2 {"prompt":"fox","seed":18446744073709551615}',
      `b-1 {"prompt":"owl","seed":${drawn}}`,
      `b-2 {"prompt":"owl","seed":${drawn + 1}}`,
    ]);
    expect(drawn).toBeLessThan(2 ** 31);
    const reordered = await rowsOf('id,prompt,seed\nnew,hen,5\nb,owl,\n', { repeat: { by: 3 } });
    expect(reordered.slice(3, 5)).toEqual(rows.slice(2));
  });

  it.each(['-1', 'random', 'n/a'])('draw the seed of a cell %s, as of an empty one', async (cell) => {
    const repeat = { by: 3 };
    const empty = await rowsOf('prompt,seed\nfox,\nowl,7\n', { repeat });
    expect(empty.filter((row) => /"seed":\d+/.test(row))).toHaveLength(6);
    expect(await rowsOf(`prompt,seed\nfox,${cell}\nowl,7\n`, { repeat })).toEqual(empty);
  });

  it('have the same seeds after columns were moved and added', async () => {
    const seedsIn = async (text: string): Promise<readonly (string | undefined)[]> =>
      (await rowsOf(text, { repeat: { by: 2 } })).map((row) => /"seed":(\d+)/.exec(row)?.[1]);
    const seeds = await seedsIn('prompt,cfg\nfox,7\nowl,8\n');
    expect(await seedsIn('cfg,prompt,seed,denoise\n7,fox,,\n8,owl,,\n')).toEqual(seeds);
    expect(new Set(seeds).size).toBe(4);
  });

  it('of two equal rows are equal, and are asked about', async () => {
    const { guesses } = await readText('prompt\nfox\nfox\n', { repeat: { by: 2 } });
    expect(guesses).toContainEqual(expect.stringMatching(/^\? 2 rows equal earlier ones/));
  });

  it('of which some are equal are asked about, and --unique leaves those out', async () => {
    const several = { split: ['seed'], repeat: { by: 2 } };
    const text = 'id,prompt,seed\na,fox,"1,2"\n';
    expect((await readText(text, several)).guesses).toContainEqual(
      expect.stringMatching(/^\? row 3 equals row 2, and is run too; to leave it out: --unique/),
    );
    expect((await readText(text, { ...several, unique: true })).rows).toEqual(
      [1, 2, 3].map((seed) => expect.stringContaining(`{"prompt":"fox","seed":${seed}}`)),
    );
    const same = { split: ['seed'], repeat: { by: 2, isSame: true }, unique: true } as const;
    expect((await readText(text, same)).rows).toHaveLength(4);
  });

  it('of two names are equal, and are asked about unless the user says what names them', async () => {
    const text = 'sku,prompt\na,fox\nb,fox\n';
    const question = expect.stringMatching(/^\? row 2 equals row 1/);
    expect((await readText(text, {})).guesses).toContainEqual(question);
    expect((await readText(text, { keyColumn: 'sku' })).guesses).not.toContainEqual(question);
  });

  it('have their seeds in the results, or begin where the command says', async () => {
    const { rows, guesses } = await readText('prompt\nfox\n', { repeat: { by: 2 }, set: { seed: '10' } });
    expect([rows, guesses]).toEqual([['{"prompt":"fox","seed":10}', '{"prompt":"fox","seed":11}'], []]);
    const seed = { column: 'seed', isAdded: true, below: 2 ** 31 } as const;
    const cells = await collected(readCells(opened('prompt\nfox\n'), { ...PLAIN, repeat: { by: 1, seed } }));
    const drawn = await readText('prompt\nfox\n', { repeat: { by: 1 } });
    expect(drawn.rows).toEqual([`{"prompt":"fox","seed":${cells[0]?.[1]}}`]);
    expect(drawn.guesses).toEqual([
      expect.stringMatching(/^seed is drawn from each row, and is in the results/),
    ]);
  });

  it('are as many as a column says, and their number is no input', async () => {
    expect(await rowsOf('id,prompt,seed,often\na,x,7,2\nb,y,8,\n', { repeat: { by: 'often' } })).toEqual([
      'a-1 {"prompt":"x","seed":7}',
      'a-2 {"prompt":"x","seed":8}',
      'b-1 {"prompt":"y","seed":8}',
    ]);
  });

  it('draw their seeds within what the input takes', async () => {
    const text = `prompt\n${Array.from({ length: 40 }, (_, at) => `p${at}\n`).join('')}`;
    const cases = [
      [{ min: 1, max: 9999 }, 1, 9999],
      [{ min: 1 }, 1, 2 ** 31],
      [{ min: -50, max: -10 }, -50, -10],
      [{ min: 2 ** 40 }, 2 ** 40, 2 ** 40 + 2 ** 31],
    ] as const;
    for (const [bounds, from, to] of cases) {
      const inputTypes = [input('prompt', 'string'), input('seed', 'int', bounds)];
      const { rows } = await readText(text, { repeat: { by: 3 } }, { inputTypes });
      const seeds = rows.map((row) => Number(/"seed":(-?\d+)/.exec(row)?.[1]));
      expect([Math.min(...seeds) >= from, Math.max(...seeds) <= to]).toEqual([true, true]);
      expect(new Set(seeds).size).toBeGreaterThan(30);
    }
  });

  it('are refused if a seed would have more than 64 bits', async () => {
    const refused = readText('prompt,seed\nfox,18446744073709551614\n', { repeat: { by: 3 } });
    const place = expect.objectContaining({ line: 2, column: 2 });
    await expect(refused).rejects.toMatchObject({ problems: [{ code: 'E103', place }] });
  });

  it('with the same inputs have to be confirmed, by one flag', async () => {
    const inputTypes = [input('prompt', 'string')];
    const options = { repeat: { by: 2 } };
    const refused = readText('prompt\nx\n', options, { inputTypes, answers: {} });
    await expect(refused).rejects.toMatchObject({
      code: 'E111',
      hint: expect.stringContaining('--repeat same:2'),
    });
    const { guesses } = await readText(
      'prompt\nx\n',
      { repeat: { by: 2, isSame: true } },
      { inputTypes, answers: {} },
    );
    expect(guesses).toEqual([]);
  });

  it('take the only input whose name is a seed', async () => {
    const inputTypes = [input('prompt', 'string'), input('4.noise_seed', 'int')];
    const { rows } = await readText(
      'prompt,Noise seed\nx,3\n',
      { repeat: { by: 2 }, map: { '4.noise_seed': 'Noise seed' } },
      { inputTypes },
    );
    expect(rows).toEqual(['{"4.noise_seed":3,"prompt":"x"}', '{"4.noise_seed":4,"prompt":"x"}']);
  });
});

describe('the values of one cell', () => {
  it.each([
    ['"1, 2,3"', [1, 2, 3]],
    ['100-102', [100, 101, 102]],
    ['"1-2,9"', [1, 2, 9]],
    ['7;8', [7, 8]],
    ['"[4,5]"', [4, 5]],
    ['6', [6]],
    ['', [undefined]],
  ])('%j are %j', async (cell, seeds) => {
    const rows = await rowsOf(`id,prompt,seed\na,x,${cell}\n`, { split: ['seed'] });
    expect(rows).toEqual(
      seeds.map(
        (seed) => `a${seed === undefined ? '' : `-${seed}`} ${JSON.stringify({ prompt: 'x', seed })}`,
      ),
    );
  });

  it('have keys that follow from each value alone, also if two look alike in a name of a file', async () => {
    const keysOf = async (cell: string): Promise<readonly string[]> =>
      (await rowsOf(`id,prompt\na,${cell}\n`, { split: ['prompt'] })).map((row) => row.split(' ')[0] ?? '');
    const keys = await keysOf('fox;Red fox;red-fox;a very long text about a fox in the snow;FOX');
    expect(keys[0]).toBe('a-fox');
    expect(keys[1]).toMatch(/^a-Red-fox-[0-9a-f]{6}$/);
    expect(new Set(keys.map((key) => key.toLowerCase())).size).toBe(5);
    expect(await keysOf('Red fox;fox')).toEqual([keys[1], keys[0]]);
    expect(await keysOf('fox')).toEqual([keys[0]]);
  });

  it('may be texts with commas, and addresses', async () => {
    expect(await rowsOf('prompt\n"a fox, red; an owl"\n', { split: ['prompt'] })).toEqual([
      '{"prompt":"a fox, red"}',
      '{"prompt":"an owl"}',
    ]);
    const images = 'prompt,image\nx,"https://a.example/1,2.png, https://a.example/3.png"\n';
    expect(await rowsOf(images, { split: ['image'] })).toEqual([
      '{"image":"https://a.example/1,2.png","prompt":"x"}',
      '{"image":"https://a.example/3.png","prompt":"x"}',
    ]);
  });

  it('keep their types in a JSON sheet', async () => {
    const text = '{"prompt":["a","b"],"seed":"1-2"}\n{"prompt":"c","seed":5}\n';
    expect(await rowsOf(text, { split: ['prompt', 'seed'], format: 'jsonl', repeat: { by: 1 } })).toEqual([
      '{"prompt":"a","seed":1}',
      '{"prompt":"a","seed":2}',
      '{"prompt":"b","seed":1}',
      '{"prompt":"b","seed":2}',
      '{"prompt":"c","seed":5}',
    ]);
  });

  it('are refused if one stands twice, which would buy the same run again', async () => {
    const refused = readText('id,prompt\na,fox;owl;fox\n', { split: ['prompt'] });
    const message = 'a cell of column "prompt" has "fox" twice';
    await expect(refused).rejects.toMatchObject({ problems: [{ code: 'E103', message }] });
  });

  it('are refused with their place if there are too many', async () => {
    const refused = readText('prompt,seed\nx,1-99999999999\n', { split: ['seed'] });
    const what = 'a cell of column "seed" has more than 10,000 values';
    const place = expect.objectContaining({ line: 2, column: 2 });
    await expect(refused).rejects.toMatchObject({ problems: [{ code: 'E103', message: what, place }] });
  });
});

describe('a condition', () => {
  it('is met before rows are multiplied and counted, in CSV and in JSON', async () => {
    const options = { where: "Status = Draft and 'Shot no' > 1", grid: { seed: ['1', '2'] }, limit: 3 };
    const csv = 'prompt,Status,Shot no\na,Draft,1\nb,Draft,2\nc,Final,3\nd,Draft,10\n';
    const rows = ['{"prompt":"b","seed":1}', '{"prompt":"b","seed":2}', '{"prompt":"d","seed":1}'];
    const { rows: readRows, guesses } = await readText(csv, options);
    const inputs = readRows.map((row) => row.slice(row.indexOf('{')));
    expect([inputs, guesses.filter((text) => text.includes('blank'))]).toEqual([rows, []]);
    const json =
      '{"prompt":"a"}\n{"prompt":"b","Status":"Draft","Shot no":2}\n{"prompt":"d","Status":"Draft","Shot no":10}\n';
    expect(await rowsOf(json, { ...options, format: 'jsonl', drop: ['Status', 'Shot no'] })).toEqual(rows);
  });

  it('that no row meets is refused as such', async () => {
    expect(await refusalOf('prompt\na\n', { where: 'prompt = b' })).toEqual([
      'E550',
      'no row of the sheet meets --where prompt = b',
      expect.anything(),
    ]);
  });
});

describe('rows of rows', () => {
  it('have the cells of their own row, each combination once, whatever the sheet', async () => {
    // No word for nothing, such as `na`, and none for a total.
    const cell = fc.stringMatching(/^x[a-z"; ,]{0,5}[a-z]$/);
    const values = fc.uniqueArray(fc.nat(99).map(String), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(cell, { minLength: 1, maxLength: 6 }),
        values,
        values,
        fc.integer({ min: 1, max: 3 }),
        async (prompts, cfg, denoise, by) => {
          const text = `prompt\n${prompts.map((prompt) => `"${prompt.replaceAll('"', '""')}"\n`).join('')}`;
          const grid = { cfg, image: denoise.map((strength) => `https://a.example/${strength}`) };
          const rows = await rowsOf(text, { grid, repeat: { by }, encoding: 'utf-8', delimiter: ',' });
          const read = rows.map(
            (row) => JSON.parse(row) as { prompt: string; cfg: number; image: string; seed: number },
          );
          const combined = new Set(
            read.map(({ prompt, cfg: guidance, image, seed }) =>
              JSON.stringify([prompt, guidance, image, seed]),
            ),
          );
          expect(combined.size).toBe(prompts.length * cfg.length * denoise.length * by);
          expect(new Set(read.map(({ prompt }) => prompt))).toEqual(new Set(prompts));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a workbook', () => {
  it('counts on from the number under a format, and leaves rows out by what people see', async () => {
    const options = {
      where: "Référence = 'A-2'",
      repeat: { by: 2 },
      map: { seed: 'Graine', denoise: 'Part' },
      keyColumn: 'Référence',
    };
    expect((await readAt(join(FILES, 'libreoffice-fr.xlsx'), options)).rows).toEqual([
      'A-2-1 {"cfg":1234.25,"denoise":1,"prompt":"« château »","seed":123456789012345}',
      'A-2-2 {"cfg":1234.25,"denoise":1,"prompt":"« château »","seed":123456789012346}',
    ]);
  });
});
