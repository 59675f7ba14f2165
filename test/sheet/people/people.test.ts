// Sheets as people have them: each is right at the first try, or one complete command away.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

describe('a sheet as people have it', () => {
  it('has semicolons, as a German Excel saves it in windows-1252', async () => {
    const text = 'Prompt;Seed;CFG\r\nein Fuchs, größer;18446744073709551615;7,5\r\nÄpfel;2;8\r\n';
    expect(await read('bestellung.csv', Buffer.from(text, 'latin1'))).toEqual({
      rows: [
        '{"cfg":7.5,"prompt":"ein Fuchs, größer","seed":18446744073709551615}',
        '{"cfg":8,"prompt":"Äpfel","seed":2}',
      ],
      guesses: [
        'encoding windows-1252 (--encoding windows-1252)',
        "separator ; (--delimiter ';')",
        'column "Prompt" is the input prompt (--map prompt=Prompt)',
        'column "Seed" is the input seed (--map seed=Seed)',
        'column "CFG" is the input cfg (--map cfg=CFG)',
        '? numbers have a decimal comma in "CFG" (--decimal-comma)',
        '? the letters are right: größer, Äpfel (--encoding windows-1252)',
      ],
    });
  });

  it('says its separator in its first line', async () => {
    expect(await read('a.csv', 'sep=;\nprompt;seed\na, b;1\n')).toEqual({
      rows: ['{"prompt":"a, b","seed":1}'],
      guesses: ["separator ; (--delimiter ';')"],
    });
  });

  it('has notes, units and marks in its header', async () => {
    const text = '"Prompt *\n(max. 77)",Seed (leave empty for random),CFG [1-30]\na fox,1,7\n';
    expect(await read('a.csv', text)).toEqual({
      rows: ['{"cfg":7,"prompt":"a fox","seed":1}'],
      guesses: [
        'column "Prompt *\n(max. 77)" is the input prompt (--map $\'prompt=Prompt *\\x0a(max. 77)\')',
        'column "Seed (leave empty for random)" is the input seed (--map \'seed=Seed (leave empty for random)\')',
        'column "CFG [1-30]" is the input cfg (--map \'cfg=CFG [1-30]\')',
      ],
    });
  });

  it('calls a setting by another well-known name, which is confirmed', async () => {
    expect(await read('a.csv', 'prompt,guidance_scale\na fox,7.5\n')).toEqual({
      rows: ['{"cfg":7.5,"prompt":"a fox"}'],
      guesses: ['? column "guidance_scale" is the input cfg, not data (--map cfg=guidance_scale)'],
    });
  });

  it('has a setting that the deployment lacks, which is confirmed, and mentioned once', async () => {
    expect(await read('a.csv', 'prompt,Width (px),shot\na fox,512,3\n')).toEqual({
      rows: ['{"prompt":"a fox"}'],
      guesses: [
        '? column "Width (px)" is not sent: the deployment has no such input (--drop \'Width (px)\')',
      ],
    });
  });

  it('has a column whose name only resembles an input', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('height', 'int')];
    expect(await read('a.csv', 'prompt,weight\na fox,0.5\n', {}, { inputTypes })).toMatchObject({
      rows: ['{"prompt":"a fox"}'],
    });
  });

  it('has booleans, choices and numbers as Excel and people write them', async () => {
    const inputTypes = [
      input('prompt', 'string', { required: true }),
      input('hires', 'bool'),
      input('sampler', 'enum', { options: ['euler', 'dpmpp_2m'] }),
      input('steps', 'int'),
    ];
    const text = 'prompt,hires,sampler,steps\na fox,TRUE, Euler , 30 \n an owl ,No,DPMPP_2M,\n';
    expect((await read('a.csv', text, {}, { inputTypes })).rows).toEqual([
      '{"hires":true,"prompt":"a fox","sampler":"euler","steps":30}',
      '{"hires":false,"prompt":" an owl ","sampler":"dpmpp_2m"}',
    ]);
  });

  it('fills a text of the user with its cells', async () => {
    const set = { prompt: 'a photo of {product} in {Style}, {{raw}}, {red|blue}' };
    expect(await read('a.csv', 'Product,style,seed\nfox,oil,1\nowl,,2\n', { set })).toEqual({
      rows: [
        '{"prompt":"a photo of fox in oil, {raw}, {red|blue}","seed":1}',
        '{"prompt":"a photo of owl in , {raw}, {red|blue}","seed":2}',
      ],
      guesses: [expect.stringMatching(/^\? the text of prompt lacks "style" in row 3,/)],
    });
    const json = '[{"product":"fox","size":7},{"product":"owl"}]';
    const options = { format: 'json', set: { prompt: '{product} {size}' } } as const;
    expect((await read('a.json', json, options)).rows).toEqual(['{"prompt":"fox 7"}', '{"prompt":"owl"}']);
  });

  it('is refused if a text of the user names a column that it does not have', async () => {
    await expect(
      read('a.csv', 'product,seed\nfox,1\n', { set: { prompt: 'a {prodct}' } }),
    ).rejects.toMatchObject({
      code: 'E602',
      hint: 'did you mean {product}? columns: product, seed; for braces as text: {{prodct}}',
    });
  });

  it('is Unicode text of Excel: UTF-16 with tabs', async () => {
    const bytes = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('prompt\tseed\r\nÄpfel\t7\r\n', 'utf16le'),
    ]);
    expect(await read('Unicode text.csv', bytes)).toEqual({
      rows: ['{"prompt":"Äpfel","seed":7}'],
      guesses: ['encoding utf-16le (--encoding utf-16le)', 'separator tab (--delimiter tab)'],
    });
  });

  it('has title rows above its header and blank rows between its rows', async () => {
    expect(await read('a.csv', 'Campaign November,,\n,,\nprompt,seed,note\na,1,x\n,,\nb,2,y\n\n')).toEqual({
      rows: ['{"prompt":"a","seed":1}', '{"prompt":"b","seed":2}'],
      guesses: [
        'header in row 3; left out above it: "Campaign November" (--header-row 3)',
        '1 blank row left out',
      ],
    });
  });

  it('ends with totals', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed,price\na,1,2.50\nb,2,2.50\nTotal,,5.00\n');
    expect(rows).toHaveLength(2);
    expect(guesses[0]).toBe(
      '? row 4 ("Total 5.00") is not a row of the batch; to send all rows: --totals send (--totals skip)',
    );
  });

  it('has blank rows beside rows that are left out, and only the blank ones are counted', async () => {
    const text = 'prompt,note\na,x\n,,\n"b\nb",y\nc,z\n\nd,w\n'.replace(',,\n', ',\n');
    const skipRows = [{ from: 4, to: 6 }];
    const { rows, guesses } = await read('a.csv', text, { skipRows });
    expect(rows).toEqual(['{"prompt":"a"}', '{"prompt":"d"}']);
    expect(guesses[0]).toBe('2 blank rows left out');
    const blankRows = [{ from: 3, to: 7 }];
    expect((await read('a.csv', text, { skipRows: blankRows })).guesses).toEqual([]);
  });

  it('ends with totals and a note, and has subtotals', async () => {
    const text =
      'prompt,note,price\na,x,1\nSubtotal,,1\nb,y,2\nTotal,Total,3\nas of Monday,,\n"prices, gross",,\n';
    const { rows, guesses } = await read('a.csv', text);
    expect(rows).toEqual(['{"prompt":"a"}', '{"prompt":"b"}']);
    expect(guesses[0]).toBe(
      '? rows 3,5-7 ("Subtotal 1", "Total Total 3", "as of Monday", "prices, gross") are not rows of the batch; to send all rows: --totals send (--totals skip)',
    );
    const skipRows = [
      { from: 3, to: 3 },
      { from: 5, to: 7 },
    ];
    const again = await read('a.csv', text, { skipRows });
    expect(again.rows).toEqual(rows);
    expect(again.guesses.join()).not.toContain('?');
  });

  it('has rows behind totals, which the question names', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt\na\nTotal\nas of Monday\n');
    expect(rows).toEqual(['{"prompt":"a"}', '{"prompt":"as of Monday"}']);
    expect(guesses[0]).toBe(
      '? row 3 ("Total") is not a row of the batch; 1 after it will be sent; to send all rows: --totals send (--totals skip)',
    );
  });

  it('has prompts that are the words of totals', async () => {
    expect(await read('a.csv', 'prompt\na\nTotal\nsum\n', { skipRows: [] })).toEqual({
      rows: ['{"prompt":"a"}', '{"prompt":"Total"}', '{"prompt":"sum"}'],
      guesses: [],
    });
  });

  it('has totals within its first rows', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt\na\nTotal\nb\nTotal\nc\n', { limit: 2 });
    expect(rows).toEqual(['{"prompt":"a"}', '{"prompt":"b"}']);
    expect(guesses[0]).toMatch(/^\? row 3 /);
  });

  it('has a row above its header that may be another header', async () => {
    const text = 'prompt,notes,notes\nx,y,z\nPrompt,a,b\nk,l,m\n';
    const { guesses } = await read('a.csv', text);
    expect(guesses[0]).toBe(
      '? header in row 3; left out above it: "prompt notes notes", "x y z" (--header-row 3)',
    );
    expect((await read('a.csv', text, { headerRow: 3 })).guesses[0]).not.toMatch(/^\?/);
  });

  it('has a column that names its rows', async () => {
    const { rows, guesses } = await read('a.csv', 'SKU,prompt\nA-1,a\nA-2,b\n');
    expect(rows).toEqual(['A-1 {"prompt":"a"}', 'A-2 {"prompt":"b"}']);
    expect(guesses.at(-1)).toBe('column "SKU" names the rows (--key SKU)');
  });

  it('has a column that nearly names its rows', async () => {
    const { guesses } = await read('a.csv', 'SKU,prompt\nA-1,a\nA-2,b\nA-1,c\n');
    expect(guesses[0]).toBe('column "SKU" repeats in rows 1 and 3, so it does not name the rows');
  });

  it.each([
    ['longer than a key', 'x'.repeat(201)],
    ['of several lines', '"x\ny"'],
  ])('does not name them if a cell is %s', async (_, cell) => {
    const { rows, guesses } = await read('a.csv', `sku,prompt\ns1,a fox\n${cell},an owl\n`);
    expect(rows).toEqual(['{"prompt":"a fox"}', '{"prompt":"an owl"}']);
    expect(guesses[0]).toBe('column "sku" cannot be a key in row 2, so it does not name the rows');
  });

  it('names GPUs as people do', async () => {
    const text = 'prompt,GPU\na,NVIDIA H100 80GB\nb,a100 80\nc,A100-40GB\nd,tesla t4\ne,\n';
    expect(await read('a.csv', text)).toEqual({
      rows: [
        '{"prompt":"a"} H100',
        '{"prompt":"b"} A100-80GB',
        '{"prompt":"c"} A100',
        '{"prompt":"d"} T4',
        '{"prompt":"e"}',
      ],
      guesses: [
        'column "GPU" names the GPU of each row (--gpu-column GPU)',
        'GPUs: "NVIDIA H100 80GB" → H100, "a100 80" → A100-80GB, "A100-40GB" → A100, "tesla t4" → T4',
      ],
    });
  });

  it('has - and none where the default GPU is meant', async () => {
    expect(await read('a.csv', 'prompt,gpu\na,-\nb,none\nc,L4\n')).toEqual({
      rows: ['{"prompt":"a"}', '{"prompt":"b"}', '{"prompt":"c"} L4'],
      guesses: ['GPUs: "-" → the default, "none" → the default'],
    });
  });

  it('has GPUs in a column with another name', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,Hardware\na,h100\nb,\n');
    expect(rows).toEqual(['{"prompt":"a"} H100', '{"prompt":"b"}']);
    expect(guesses).toContain('? column "Hardware" names the GPU of each row (--gpu-column Hardware)');
  });

  it('spells an input wrongly', async () => {
    expect((await read('a.csv', 'Promt,seed\na,1\n')).guesses).toEqual([
      '? column "Promt" is the input prompt, not data (--map prompt=Promt)',
    ]);
  });

  it('has numbers that a program wrote with a point', async () => {
    expect(await read('a.csv', 'prompt,seed\na,30.0\n')).toEqual({
      rows: ['{"prompt":"a","seed":30}'],
      guesses: [],
    });
  });

  it('has links to files', async () => {
    const { rows } = await read('a.csv', 'Prompt|Image\na|https://example.com/a,b.png?x=1;2\n');
    expect(rows).toEqual(['{"image":"https://example.com/a,b.png?x=1;2","prompt":"a"}']);
  });
});
