import { describe, expect, it } from 'vitest';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { PAGE_ROWS, pageName, pageOf, readPage } from '../../src/sheet/pages.ts';
import { readQueuePage } from '../../src/sheet/placed-rows.ts';
import { ERRORS_FILE, freshStore, input, inputsOf, lay, rowsOf } from './laying.ts';

describe('a sheet that is written to pages', () => {
  it('has one line per row, and its summary lists its contents', async () => {
    const store = freshStore();
    const text = 'prompt,seed,gpu\na red fox,7,A10G\na blue fox,8,\n';
    const laidOut = await lay({ text }, store);
    expect(laidOut).toEqual({
      rows: 2,
      pages: 1,
      columns: ['prompt', 'seed', 'gpu'],
      inputs: [
        { input: 'prompt', kind: 'auto', from: { column: 'prompt' } },
        { input: 'seed', kind: 'auto', from: { column: 'seed' } },
      ],
      unused: [],
      uses: [
        { name: 'prompt', first: 'a red fox', uses: [{ as: 'input', input: 'prompt', type: 'auto' }] },
        { name: 'seed', first: '7', uses: [{ as: 'input', input: 'seed', type: 'auto' }] },
        { name: 'gpu', first: 'A10G', uses: [{ as: 'gpu' }] },
      ],
      repeats: { count: 0 },
      twins: { count: 0 },
      gpus: { A10G: 1, '': 1 },
      lanes: [{ gpu: 'A10G', places: 1 }, { places: 1 }],
      isQueued: true,
      content: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const lines = (await store.read('rows/00001.jsonl'))?.split('\n') ?? [];
    expect(lines[0]).toMatch(
      /^\{"row":1,"key":"[0-9a-f]{16}","gpu":"A10G","inputs":\{"prompt":"a red fox","seed":7\}\}$/,
    );
    expect(lines[1]).toMatch(
      /^\{"row":2,"key":"[0-9a-f]{16}","inputs":\{"prompt":"a blue fox","seed":8\}\}$/,
    );
    expect(await store.exists(ERRORS_FILE)).toBe(false);
  });

  it.each([
    [undefined, [1, 3, 4], [2, 5]],
    [{ orderBy: 'n' }, [4, 1, 3], [2, 5]],
    [{ priority: 'n' }, [3, 1, 4], [5, 2]],
  ])(
    'has a lane for each GPU as it comes, in the order of the sheet, or in the one asked for: %j',
    async (order, ...rows) => {
      const store = freshStore();
      const text = 'gpu,n\nT4,3\nL4,2\nT4,4\nT4,1\nL4,10\n';
      const { lanes } = await lay({ text, ...(order && { order }) }, store);
      expect(lanes).toEqual([
        { gpu: 'T4', places: 3 },
        { gpu: 'L4', places: 2 },
      ]);
      const queued = await Promise.all(lanes.map((_, lane) => readQueuePage(store, placeIn(lane, 1))));
      expect(queued.map(({ value }) => value.map(({ row }) => row))).toEqual(rows);
    },
  );

  it('fills pages of 500 rows', async () => {
    const store = freshStore();
    const text = `n\n${Array.from({ length: 1001 }, (_, n) => n).join('\n')}\n`;
    expect(await lay({ text }, store)).toMatchObject({ rows: 1001, pages: 3 });
    expect(await store.list('rows')).toEqual(['00001.jsonl', '00002.jsonl', '00003.jsonl']);
    expect((await readPage(store, 2)).map(({ row }) => row)).toEqual(
      Array.from({ length: 500 }, (_, n) => n + 501),
    );
    expect(await readPage(store, 3)).toMatchObject([{ row: 1001, inputs: { n: 1000 } }]);
  });

  it('finds the page of a row by its number', () => {
    expect([1, PAGE_ROWS, PAGE_ROWS + 1, 1_000_000].map(pageOf)).toEqual([1, 1, 2, 2000]);
    expect([1, 123_456].map(pageName)).toEqual(['rows/00001.jsonl', 'rows/123456.jsonl']);
  });

  it('reports a missing page', async () => {
    const missing = readPage(freshStore(), 7);
    await expect(missing).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringMatching(/has no rows\/00007\.jsonl$/),
    });
  });

  it('has no empty page after a full one', async () => {
    const text = `n\n${Array.from({ length: 500 }, (_, n) => n).join('\n')}`;
    expect(await lay({ text })).toMatchObject({ rows: 500, pages: 1 });
  });

  it('writes pages of large rows in pieces and reads them back whole', async () => {
    const long = 'x'.repeat(300_000);
    const text = `prompt\n${Array.from({ length: 12 }, (_, n) => `${n} ${long}`).join('\n')}`;
    const rows = await rowsOf({ text });
    expect(rows.map(({ inputs }) => inputs['prompt'])).toEqual(
      Array.from({ length: 12 }, (_, n) => `${n} ${long}`),
    );
  });

  it('keeps a 64-bit seed digit for digit from cell to page', async () => {
    const text = 'seed\n18446744073709551615\n-9007199254740993\n';
    expect(await inputsOf({ text })).toEqual(['{"seed":18446744073709551615}', '{"seed":-9007199254740993}']);
  });

  it('omits empty cells, and rows without a value', async () => {
    expect(await inputsOf({ text: 'a,b\n,2\n,\n1,\n , \n' })).toEqual(['{"b":2}', '{"a":1}']);
  });

  it('reads only the first rows with --rows', async () => {
    const text = 'a\n1\n2\n3\nbad,row\n';
    expect(await inputsOf({ text, options: { limit: 2 } })).toEqual(['{"a":1}', '{"a":2}']);
  });

  it('reads the property names of every JavaScript object as plain names', async () => {
    const text = 'toString,hasOwnProperty,valueOf\n1,2,3\n';
    expect(await inputsOf({ text })).toEqual(['{"hasOwnProperty":2,"toString":1,"valueOf":3}']);
  });
});

describe('the text of a sheet', () => {
  const expected = ['{"a":1,"b":"x"}', '{"a":2,"b":"y"}'];

  it.each([
    ['LF', 'a,b\n1,x\n2,y\n'],
    ['CRLF', 'a,b\r\n1,x\r\n2,y\r\n'],
    ['CR', 'a,b\r1,x\r2,y\r'],
    ['mixed line ends', 'a,b\n1,x\r\n2,y'],
    ['a byte order mark', '\ufeffa,b\n1,x\n2,y\n'],
    ['blank lines, and lines of spaces', '\n \na,b\n\n1,x\n   \n\r\n2,y\n\n'],
    ['padded names', ' a ,b \n1,x\n2,y\n'],
    ['quotes', '"a","b"\n"1","x"\n2,"y"\n'],
  ])('may have %s', async (_, text) => {
    expect(await inputsOf({ text })).toEqual(expected);
    expect(await inputsOf({ text, chunk: 1 })).toEqual(expected);
  });

  it.each([
    ['tabs in a .tsv', 'a\tb\n1\tx\n2\ty\n', { format: 'tsv' }],
    ['a delimiter that is named', 'a;b\n1;x\n2;y\n', { delimiter: ';' }],
    ['tabs that are named', 'a\tb\n1\tx\n2\ty\n', { delimiter: 'tab' }],
  ] as const)('may have %s', async (_, text, options) => {
    expect(await inputsOf({ text, options })).toEqual(expected);
  });

  it('keeps delimiters, quotes and line breaks inside quotes', async () => {
    const text = 'a,b\n"x, ""y""","1\n2\n3"\n';
    expect(await inputsOf({ text })).toEqual([JSON.stringify({ a: 'x, "y"', b: '1\n2\n3' })]);
  });

  it.each(['\r\n', '\r'])('gives the same rows and keys when a program saves its LF as %j', async (end) => {
    const text = 'a,b\n"x\ny\n\nz",1\n"\n",2\n';
    const rows = await rowsOf({ text });
    expect(rows[0]).toMatchObject({ inputs: { a: 'x\ny\n\nz' } });
    for (const chunk of [1, 1000])
      expect(await rowsOf({ text: text.replaceAll('\n', end), chunk })).toEqual(rows);
  });

  it('reads a line of spaces as a row without a value if there is one column', async () => {
    expect(await inputsOf({ text: 'a\n  \nx\n' })).toEqual(['{}', '{"a":"x"}']);
  });

  it.each([
    ['windows-1252', Buffer.from('a\ncaf\u00e9\n', 'latin1')],
    ['utf-16le', Buffer.from('\ufeffa\ncaf\u00e9\n', 'utf16le')],
  ])('may be %s', async (encoding, text) => {
    expect(await inputsOf({ text, options: { encoding }, chunk: 3 })).toEqual(['{"a":"caf\u00e9"}']);
  });
});

describe('a disk error', () => {
  it('ends the writing, whichever page it hits', async () => {
    const store = freshStore();
    const full = { ...store, draft: () => Promise.reject(new Error('no space left on device')) };
    for (const rows of [3, 700, 9000]) {
      const text = `n\n${Array.from({ length: rows }, (_, n) => n).join('\n')}`;
      await expect(lay({ text }, full)).rejects.toThrow('no space left on device');
    }
  });
});

describe('columns and inputs', () => {
  const text = 'text,seed,notes,gpu\na fox,7,nice,A100\n';

  it('are connected by --map, which replaces the name of the column', async () => {
    expect(await inputsOf({ text, options: { map: { prompt: 'text' }, drop: ['notes'] } })).toEqual([
      '{"prompt":"a fox","seed":7}',
    ]);
  });

  it('may be swapped, and one column may set two inputs', async () => {
    expect(await inputsOf({ text: 'a,b\n1,2\n', options: { map: { a: 'b', b: 'a' } } })).toEqual([
      '{"a":2,"b":1}',
    ]);
    expect(await inputsOf({ text: 'a\n1\n', options: { map: { x: 'a', y: 'a' } } })).toEqual([
      '{"x":1,"y":1}',
    ]);
  });

  it('are completed by constants, which are parsed like cells', async () => {
    const options = { set: { steps: '20', cfg: '7.50', off: '' }, types: { cfg: 'float' } } as const;
    const laidOut = await lay({ text: 'a\n1\n', options });
    expect(laidOut.inputs).toEqual([
      { input: 'a', kind: 'auto', from: { column: 'a' } },
      { input: 'steps', kind: 'auto', from: { value: 20 } },
      { input: 'cfg', kind: 'float', from: { value: 7.5 } },
    ]);
    expect(await inputsOf({ text: 'a\n1\n', options })).toEqual(['{"a":1,"cfg":7.5,"steps":20}']);
  });

  it('are used by a template', async () => {
    const options = { set: { prompt: 'a {product}' }, drop: ['note'] };
    expect(await lay({ text: 'product,note\nmug,x\n', options })).toMatchObject({ unused: ['note'] });
  });

  it('count as unused if they are dropped', async () => {
    expect(await lay({ text, options: { drop: ['notes', 'seed'] } })).toMatchObject({
      columns: ['text', 'seed', 'notes', 'gpu'],
      unused: ['seed', 'notes'],
    });
  });

  it('get their types from --type, otherwise from the deployment', async () => {
    const inputTypes = [input('text', 'text'), input('seed', 'seed'), input('notes', 'Boolean')];
    const sheet = { text: 'text,seed,notes\n5,7,true\n', inputTypes };
    expect(await inputsOf(sheet)).toEqual(['{"notes":true,"seed":7,"text":"5"}']);
    expect(await inputsOf({ ...sheet, options: { types: { seed: 'string' } } })).toEqual([
      '{"notes":true,"seed":"7","text":"5"}',
    ]);
    expect((await lay(sheet)).inputs.map(({ kind }) => kind)).toEqual(['string', 'int', 'bool']);
  });
});

describe('the gpu of a row', () => {
  const gpusOf = async (text: string, options = {}, inputTypes?: ReturnType<typeof input>[]) =>
    (await rowsOf({ text, options, ...(inputTypes && { inputTypes }) }))
      .map(({ gpu }) => gpu ?? '-')
      .join(' ');

  it('is the cell of the column gpu, otherwise --gpu, otherwise none', async () => {
    expect(await gpusOf('a,gpu\n1,H100\n2,\n')).toBe('H100 -');
    expect(await gpusOf('a,gpu\n1,H100\n2,\n', { gpu: 'T4' })).toBe('H100 T4');
    expect(await gpusOf('a\n1\n', { gpu: 'A100-80GB' })).toBe('A100-80GB');
  });

  it('is the cell of the column of --gpu-column, and gpu is then an input', async () => {
    const text = 'gpu,machine\nbig,L4\n';
    expect(await gpusOf(text, { gpuColumn: 'machine' })).toBe('L4');
    expect(await inputsOf({ text, options: { gpuColumn: 'machine' } })).toEqual(['{"gpu":"big"}']);
  });

  it('is not read from a column that is dropped, mapped, or an input of the deployment', async () => {
    expect(await gpusOf('a,gpu\n1,big\n', { drop: ['gpu'] })).toBe('-');
    expect(await gpusOf('a,gpu\n1,big\n', { map: { size: 'gpu' } })).toBe('-');
    const inputTypes = [input('gpu', 'string')];
    expect(await gpusOf('gpu\nbig\n', {}, inputTypes)).toBe('-');
    expect(await gpusOf('gpu\nL4\n', { gpuColumn: 'gpu' }, inputTypes)).toBe('L4');
  });
});
