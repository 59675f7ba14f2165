// Names of output files: by a template of the user, or by the key column.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../src/errors/error.ts';
import { outputNames, outputStem } from '../../src/results/output-paths.ts';
import { readPage } from '../../src/sheet/pages.ts';
import { RowFileNames } from '../../src/sheet/output-name.ts';
import { layOut } from '../../src/sheet/sheet.ts';
import { errorsIn, freshStore, opened, PLAIN, refusedBy } from './laying.ts';

const HEADER = ['sku', 'seed', 'note'];

/** The name that a template makes of a row's cells, or why it makes none. */
function named(template: string, cells: readonly string[], row = 7): unknown {
  const names = new RowFileNames(template, HEADER);
  return names.nameOf({ row, key: 'fox', cellOf: (at) => cells[at] ?? '' });
}

function refusalOf(make: () => unknown): Pick<RunsheetError, 'code' | 'message' | 'hint'> {
  try {
    make();
  } catch (error) {
    const { code, message, hint } = error as RunsheetError;
    return { code, message, hint };
  }
  throw new Error('nothing was refused');
}

describe('a template of names', () => {
  it.each([
    ['{sku}-{seed}', ['SKU-0017', '123456789012345678'], 'SKU-0017-123456789012345678'],
    ['{row}_{key}', [], '7_fox'],
    ['{sku}', ['Äpfel & Größe'], 'Äpfel-Größe'],
    ['{sku}', ['日本 🎨 猫'], '日本-猫'],
    ['{sku}', ['../../etc/passwd'], 'etc-passwd'],
    ['{sku}', ['a~2#b%c?d e'], 'a-2-b-c-d-e'],
    ['{sku}', ['CON'], '_CON'],
    ['{sku}', ['nul.x'], '_nul.x'],
    ['{sku}', ['COM¹'], '_COM¹'],
    ['{sku}', ['lpt³.dat'], '_lpt³.dat'],
    ['{sku}', ['com⁴'], 'com⁴'],
    ['{sku}', ['trailing. .'], 'trailing'],
    ['{sku}-{note}', ['', '', 'x'], 'x'],
    ['{sku}', ['A\u0308pfel'], 'Äpfel'],
  ])('makes of %s and %j the name %s', (template, cells, name) => {
    expect(named(template, cells)).toEqual({ name });
  });

  it('cuts the longest value, so that the others stay whole', () => {
    const { name = '' } = named('{note}-{seed}', ['', '42', 'ö'.repeat(500)]) as { readonly name?: string };
    expect(name).toBe(`${'ö'.repeat(58)}-42`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
  });

  it('makes only names that any file system takes, whatever the cells are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (sku, seed) => {
        const made = named('{sku}-{seed}', [sku, seed]) as { readonly name?: string };
        if (made.name === undefined) return;
        expect(Buffer.byteLength(made.name)).toBeLessThanOrEqual(121);
        expect(made.name).not.toMatch(/[\p{Cc}<>:"/\\|?*~#% ]|^[-.]|[-.]$/u);
        expect(made.name).toBe(made.name.normalize('NFC'));
      }),
    );
  });

  it.each([
    ['{skuu}', 'E206', /did you mean sku\?/],
    ['portrait', 'E602', /the same name/],
    ['{sku', 'E602', /without its other half/],
    ['{sku}/{seed}', 'E602', /no folders/],
    ['{sku}.png', 'E602', /ends with an extension/],
  ])('%s is refused', (template, code, text) => {
    const { message, hint, ...refusal } = refusalOf(() => named(template, []));
    expect(refusal).toMatchObject({ code });
    expect(`${message}\n${hint}`).toMatch(text);
  });
});

const lay = (text: string, outputName?: string, keyColumn?: string, store = freshStore()) =>
  layOut({
    source: { name: 'sheet.csv', open: opened(text) },
    options: { ...PLAIN, ...(keyColumn === undefined ? {} : { keyColumn }) },
    inputTypes: undefined,
    store,
    errors: errorsIn(store),
    outputName,
  });

describe('a sheet whose files have names', () => {
  const SHEET = 'sku,seed\nSKU-a,1\nSKU-b,2\n';

  it('keeps the name of each row, and is the same batch as without names', async () => {
    const store = freshStore();
    const laid = await lay(SHEET, '{sku}_{seed}', undefined, store);
    expect(await readPage(store, 1)).toMatchObject([{ name: 'SKU-a_1' }, { name: 'SKU-b_2' }]);
    expect(laid.content).toBe((await lay(SHEET)).content);
  });

  it.each([
    ['case', 'sku,seed\nFox,1\nfox,2\n'],
    ['composition', 'sku,seed\n\u00C4pfel,1\nA\u0308pfel,2\n'],
    ['width and long letters', 'sku,seed\nstra\u00DFe,1\nSTRASSE,2\n'],
  ])('is refused if two names differ only in %s', async (_, text) => {
    const refused = await refusedBy(lay(text, '{sku}'));
    expect(refused.problems[0]).toMatchObject({
      code: 'E118',
      message: expect.stringContaining('rows 1 and 2 the same name') as string,
      hint: "add the number of the row, which is unique: --output-name '{sku}-{row}'",
      place: { row: 2, columnName: 'sku' },
    });
  });

  it('is refused with every row that gets no name', async () => {
    const refused = await refusedBy(lay('sku,seed\n🎨,1\na,2\n"",3\n', '{sku}'));
    expect(refused.problems.map(({ code, place }) => [code, place?.row])).toEqual([
      ['E118', 1],
      ['E118', 3],
    ]);
  });

  it('with a key column names files after the keys as they are, and those that differ only in case by a hash', async () => {
    const store = freshStore();
    await lay('sku,seed\nSKU-0017,1\nsku-0017,2\nfox,3\nGröße 4,4\n', undefined, 'sku', store);
    const rows = await readPage(store, 1);
    expect(rows.map(({ name }) => name)).toEqual([
      'SKU-0017',
      expect.stringMatching(/^sku-0017-[0-9a-f]{16}$/),
      undefined,
      expect.stringMatching(/^Größe-4-[0-9a-f]{16}$/),
    ]);
    expect(rows.map((row) => outputStem(outputNames(4, row), 1))[2]).toBe('outputs/fox');
  });
});

describe('a key', () => {
  const namesOf = async (...keys: readonly string[]) => {
    const store = freshStore();
    const laid = await lay(
      `sku,seed\n${keys.map((key, at) => `"${key}",${at}\n`).join('')}`,
      undefined,
      'sku',
      store,
    );
    const rows = await readPage(store, 1);
    const stems = rows.map((row) => [row.key, outputStem(outputNames(rows.length, row), 1)] as const);
    return { names: new Map(stems), hashed: laid.hashedNames };
  };

  it('that is the name of a media file gives its name without the extension, once', async () => {
    const { names } = await namesOf('menue.wav', 'menue.mp3', 'v1.2');
    expect([...names.values()]).toEqual([
      'outputs/menue',
      expect.stringMatching(/^outputs\/menue-[0-9a-f]{16}$/),
      'outputs/v1.2',
    ]);
  });

  it('that is a file name keeps it, whatever keys stand above it on another night', async () => {
    const first = await namesOf('TEE-S-M', 'MUG');
    const second = await namesOf('TEE-S/M', 'TEE S M', ' TEE-S-M', 'TEE-S-M', 'MUG');
    expect(second.names.get('TEE-S-M')).toBe('outputs/TEE-S-M');
    expect(second.names.get('TEE-S-M')).toBe(first.names.get('TEE-S-M'));
    expect(new Set(second.names.values()).size).toBe(5);
    const alone = await namesOf('TEE-S/M');
    expect(alone.names.get('TEE-S/M')).toBe(second.names.get('TEE-S/M'));
    expect(first.hashed).toBeUndefined();
    expect(second.hashed).toMatchObject({ count: 3, first: [{ key: 'TEE-S/M', isRepeated: false }, {}, {}] });
    expect((await namesOf('MUG', 'mug')).hashed?.first).toMatchObject([{ key: 'mug', isRepeated: true }]);
  });
});

describe('the files of a row', () => {
  it('have its name, the number from the second file on, and what distinguishes later results', () => {
    const row = { row: 1_001, key: 'k', name: 'SKU-0017' };
    expect(outputStem(outputNames(3, { ...row, row: 1 }), 1)).toBe('outputs/SKU-0017');
    expect(outputStem(outputNames(2_000, row, 'after-1'), 2)).toBe('outputs/00002/SKU-0017~after-1~2');
  });
});

it.each(['r1', 'Fox_2', '_x', '007', 'a'.repeat(60)])(
  'a plain key names its file as a template of the key does: %s',
  (key) => {
    const row = { row: 1, key, cellOf: () => '' };
    const [byKey, byTemplate] = [undefined, '{key}'].map((chosen) =>
      new RowFileNames(chosen, HEADER).nameOf(row),
    );
    expect(byKey).toEqual(byTemplate);
  },
);
