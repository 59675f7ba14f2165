// Sheets whose quotes are letters, and sheets whose rows have other shapes than their header.

import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const prompts = (rows: readonly string[]): readonly unknown[] =>
  rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { prompt?: unknown }).prompt);

describe('a quote that was never closed in its row', () => {
  const text = 'id,prompt,seed\n1,"one\n2,two,5\n3,three,6"\n4,end,7\n';

  it('is refused with its line, and is neither a short row nor a text of several rows', async () => {
    await expect(read('a.csv', text)).rejects.toMatchObject({
      code: 'E103',
      place: { line: 2 },
      message: expect.stringContaining('takes in 3 lines that look like rows') as string,
    });
  });

  it('is read as the user says', async () => {
    const { rows } = await read('a.csv', text, { quote: 'csv', shortRows: true });
    expect(rows).toEqual(['1 {"prompt":"one\\n2,two,5\\n3,three,6"}', '4 {"prompt":"end","seed":7}']);
  });
});

describe('quotes of a CSV', () => {
  it('are letters within a field, and a formula of Excel is the text in it', async () => {
    expect(await read('a.csv', 'prompt,seed\na 24" monitor,1\n"a fox, red",="007"\n')).toEqual({
      rows: ['{"prompt":"a 24\\" monitor","seed":1}', '{"prompt":"a fox, red","seed":7}'],
      guesses: ['quotes within a field are letters, such as a 24" monitor (--quote loose)'],
    });
  });

  it('enclose a field behind a space', async () => {
    const { rows } = await read('a.csv', 'seed,prompt\n1, "a fox, red" \n2,5" disk\n');
    expect(prompts(rows)).toEqual(['a fox, red', '5" disk']);
  });

  it('around a part of a field are letters, which is asked', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed\n"Sunny" lamp,1\n"x, y",2\n');
    expect(prompts(rows)).toEqual(['"Sunny" lamp', 'x, y']);
    expect(guesses).toEqual([
      '? quotes around a part of a field are letters, such as "Sunny" lamp (--quote loose)',
    ]);
  });

  it('that are never closed are letters if all rows are whole then, which is asked', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed\n"a fox,1\nan owl,2\n');
    expect(prompts(rows)).toEqual(['"a fox', 'an owl']);
    expect(guesses[0]).toBe('? all quotes are letters: the one in line 2 is never closed (--quote none)');
    await expect(read('a.csv', 'prompt,seed\n"a, b",1\n"a fox,1\n')).rejects.toMatchObject({
      problems: [{ code: 'E103', place: { line: 3 } }],
    });
  });

  it('that take in rows are refused without a ready command, and a text of several lines is not', async () => {
    const text = 'prompt,seed\n"a fox,1\nan owl,2\na "cat",3\na dog,4\n"a text\nof two lines",5\n';
    const taken = 'prompt,seed\n"a fox,1\nan owl",2\na dog,4\n';
    for (const sheet of [
      taken,
      taken.replaceAll(',', ';'),
      'id,prompt\n1,a fox\n2,"an owl\n3,a cat"\n4,x\n',
    ]) {
      const refused = (await read('a.csv', sheet).catch((error: unknown) => error)) as RunsheetError;
      expect(refused).toMatchObject({
        code: 'E103',
        hint: 'close it in its own row; if quotes are letters: --quote none; if one cell has these lines: --quote csv',
      });
      expect(refused.correction).toBeUndefined();
    }
    expect(prompts((await read('a.csv', taken, { quote: 'csv' })).rows)[0]).toBe('a fox,1\nan owl');
    expect(prompts((await read('a.csv', taken, { quote: 'none' })).rows)).toEqual([
      '"a fox',
      'an owl"',
      'a dog',
    ]);
    expect(
      (await read('a.csv', 'prompt,seed\n"a text, long\nof two lines, short",5\nb,6\n')).guesses,
    ).toEqual([]);
    // A quote that closes within a row leaves a rest behind it.
    await expect(read('a.csv', text)).rejects.toMatchObject({
      problems: [
        { code: 'E103', place: { line: 2 } },
        { code: 'E103', place: { line: 4 } },
      ],
    });
  });

  it('in a table with tabs are letters unless all of them enclose fields', async () => {
    const loose = await read('a.tsv', 'prompt\tseed\n"Sunny" lamp\t1\n24" screen\t2\n');
    expect(prompts(loose.rows)).toEqual(['"Sunny" lamp', '24" screen']);
    expect(loose.guesses).toEqual(['quotes are letters, such as "Sunny" lamp (--quote none)']);
    const enclosing = await read('a.tsv', 'prompt\tseed\n"a ""red"" fox"\t1\n"b\nc"\t2\n');
    expect(prompts(enclosing.rows)).toEqual(['a "red" fox', 'b\nc']);
    expect(enclosing.guesses).toEqual([]);
  });

  it('in a table with tabs never take in rows', async () => {
    const { rows, guesses } = await read('a.tsv', 'prompt\tseed\n"a fox\t1\nan owl"\t2\na cat\t3\n');
    expect(prompts(rows)).toEqual(['"a fox', 'an owl"', 'a cat']);
    expect(guesses[0]).toMatch(/^\? quotes are letters: in row 2, they would take in 2 lines/);
  });
});

describe('other quotes around cells', () => {
  const question = (first: string, without: string, quote: string): string =>
    `? the quotes around each cell of "prompt" are sent with it, such as ${first}; to send none${without} (--quote ${quote})`;
  const replaced = ', replace them by " in the file';
  const removed = ', remove them from the file';

  it.each([
    ['a.csv', 'prompt,seed\n“a fox”,1\n“an owl”,2\n', '“a fox”', replaced, 'csv'],
    ['a.csv', "prompt,seed\n'a fox',1\n'an owl's nest',2\n", "'a fox'", replaced, 'csv'],
    ['a.csv', 'prompt;seed\n„Fuchs, rot“;1\n„Uhu“;2\n', '„Fuchs, rot“', replaced, 'csv'],
    ['a.txt', '“a fox, red”\n“an owl”\n', '“a fox, red”', removed, 'none'],
    ['a.txt', '"a fox, red"\n"an owl"\n', '"a fox, red"', ': --quote csv', 'none'],
    ['a.txt', '"a fox, red",\n"an owl"\n', '"a fox, red",', removed, 'none'],
  ] as const)('are letters, which is asked: %s %j', async (file, text, first, without, quote) => {
    const sheetRead = await read(file, text);
    expect(prompts(sheetRead.rows)[0]).toBe(first);
    expect(sheetRead.guesses).toContain(question(first, without, quote));
    const { guesses } = await read(file, text, { quote });
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });

  it.each([
    'prompt,seed\n“a fox, red”,1\n“an owl”,2\n',
    'prompt,negative,seed\n“a fox, red”,1\na cat,blurred,2\n',
    "prompt,seed\n'an owl's nest, at night',1\n",
    '“prompt”,“seed”\n“a fox”,“1”\n',
  ])('that a comma divides, or around the names of columns, are refused: %j', async (text) => {
    await expect(read('a.csv', text)).rejects.toMatchObject({
      code: 'E103',
      message: expect.stringContaining('only the quote " encloses a cell') as string,
      hint: expect.stringContaining('--quote csv') as string,
    });
  });

  it('as HTML is sent, which is said, and signs of other languages are not HTML', async () => {
    const said = 'HTML in a text is sent with it, such as ';
    expect((await read('a.csv', 'prompt\nSoft &amp; <b>warm</b>\n')).guesses).toContain(`${said}<b>`);
    expect((await read('a.csv', 'prompt\na<br/>b\n')).guesses).toContain(`${said}<br/>`);
    const texts = 'prompt,note\n<lora:x:1> <speak>a <break time=""1s""/> 1 < 2 & b;,<p>\n';
    expect((await read('a.csv', texts)).guesses.join()).not.toContain(said);
  });

  it('before the comma of a list are refused with --quote csv', async () => {
    await expect(read('a.txt', '"a fox",\n"an owl"\n', { quote: 'csv' })).rejects.toMatchObject({
      code: 'E103',
    });
  });

  it.each([
    'prompt,seed\n“Hello”,1\nan owl,2\n',
    'prompt,seed\n"“Hello, you”",1\n“Bye”,2\n',
    'prompt,seed\n"""a fox""",1\n',
    "prompt,seed\n'90s style,1\n",
    'prompt,note\na fox,“red”\n',
  ])('are no question if they do not enclose every cell that is sent: %j', async (text) => {
    const { guesses } = await read('a.csv', text);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });
});

describe('commas that no quotes enclose', () => {
  const question = (rows: string, column: string): string =>
    `? the commas that rows have more than the header belong to "${column}": ${rows} (--unquoted ${column})`;

  it.each([
    ['prompt,seed\na fox, red,1\nan owl,2\n', 'row 2 ("a fox, red,1")', ['a fox, red', 'an owl']],
    ['seed,prompt\n1,a, b,c\n2,d\n', 'row 2 ("1,a, b,c")', ['a, b,c', 'd']],
    ['prompt\na fox, red\nan owl\n', 'row 2 ("a fox, red")', ['a fox, red', 'an owl']],
  ])('belong to the only text that fits, which is asked: %j', async (text, rows, expected) => {
    const sheetRead = await read('a.csv', text);
    expect(prompts(sheetRead.rows)).toEqual(expected);
    expect(sheetRead.guesses).toEqual([question(rows, 'prompt')]);
  });

  it('may belong to a text that is data, which sends nothing of it', async () => {
    await expect(
      read('a.csv', 'prompt,style,seed\na fox, red,oil,1\nan owl,ink, dark,2\nan owl,ink,3\n'),
    ).rejects.toMatchObject({ problems: [{ code: 'E103' }, { code: 'E103' }] });
    const { rows } = await read('a.csv', 'prompt,note,seed\nan owl,a bird, grey,2\nan owl,ink,3\n');
    expect(prompts(rows)).toEqual(['an owl', 'an owl']);
  });

  it('hide no column, whose cells stood in others', async () => {
    const { rows } = await read('a.csv', 'Prompt,Seeds,cfg\na fox, red,1,7\nan owl,nan,7\n');
    expect(rows).toEqual(['{"cfg":7,"prompt":"a fox, red","seed":1}', '{"cfg":7,"prompt":"an owl"}']);
  });

  it('belong to the text with blanks behind them, and else the sheet is refused with their place', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('style', 'string')];
    const { rows } = await read('a.csv', 'prompt,style\na fox, red,oil\nan owl,ink\n', {}, { inputTypes });
    expect(rows).toEqual(['{"prompt":"a fox, red","style":"oil"}', '{"prompt":"an owl","style":"ink"}']);
    await expect(
      read('a.csv', 'prompt,style\na fox,red,oil\nan owl,ink\n', {}, { inputTypes }),
    ).rejects.toMatchObject({
      problems: [{ code: 'E103', place: { line: 2 }, correction: { add: [['--invalid', 'skip']] } }],
    });
  });
});

describe('a sheet of another shape', () => {
  it('has columns without a name: an index is data, and empty ones at the end are left out', async () => {
    expect(await read('a.csv', ',prompt,seed,,\n0,a,1,,\n1,b,2,,\n')).toEqual({
      rows: ['{"prompt":"a","seed":1}', '{"prompt":"b","seed":2}'],
      guesses: [],
    });
    expect((await read('a.csv', 'prompt,,\na,x,\nb,,\n')).rows).toEqual(['{"prompt":"a"}', '{"prompt":"b"}']);
  });

  it('has two columns of one name, which are data, but no inputs', async () => {
    expect((await read('a.csv', 'prompt,style,style\na,oil,ink\n')).rows).toEqual(['{"prompt":"a"}']);
    await expect(read('a.csv', 'prompt,seed,prompt\na,1,b\n')).rejects.toMatchObject({
      code: 'E208',
      hint: expect.stringContaining('--map prompt=prompt --drop prompt.2') as string,
    });
    const options = { map: { prompt: 'prompt' }, drop: ['prompt.2'] };
    expect((await read('a.csv', 'prompt,seed,prompt\na,1,b\n', options)).rows).toEqual([
      '{"prompt":"a","seed":1}',
    ]);
  });

  it('has rows without their last cells, which are empty if that is right', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed,cfg\na,1\nb,2,7\nc\n');
    expect(rows).toEqual(['{"prompt":"a","seed":1}', '{"cfg":7,"prompt":"b","seed":2}', '{"prompt":"c"}']);
    expect(guesses).toEqual([
      '? the last cells of rows 2,4 ("a 1") are missing and taken for empty (--short-rows)',
    ]);
  });

  it('has rows with more empty cells than its header', async () => {
    expect(await read('a.csv', 'prompt,seed\na,1,,\n')).toEqual({
      rows: ['{"prompt":"a","seed":1}'],
      guesses: [],
    });
  });

  it('has comments, whatever they contain, and rows that begin with the sign', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,seed\n# for "May, 1\na,1\n# b,2\nc,3\n', {
      comment: '#',
    });
    expect(rows).toEqual(['{"prompt":"a","seed":1}', '{"prompt":"c","seed":3}']);
    expect(guesses).toEqual(['2 blank rows or comments left out']);
    const sheetRead = await read('a.csv', 'prompt,seed\n# for May\na,1\n# b,2\nc,3\n');
    expect(sheetRead).toEqual({
      rows,
      guesses: [
        '? rows 2,4 ("# for May") are comments; to send all rows: --comment none (--comment \'#\')',
        '2 blank rows or comments left out',
      ],
    });
    const sheet = await read('a.csv', 'prompt,seed\n#sunset,1\n#dawn,2\na,3\n');
    expect(prompts(sheet.rows)).toEqual(['#sunset', '#dawn', 'a']);
  });

  it('has lines that are no rows: the fences of a chat', async () => {
    const { rows, guesses } = await read('a.csv', '```csv\nprompt,seed\na,1\nb,2\n```\n');
    expect(rows).toHaveLength(2);
    expect(guesses).toEqual([
      'header in row 2; left out above it: "```csv" (--header-row 2)',
      '? row 5 ("```") is not a row of the batch; to send all rows: --totals send (--totals skip)',
    ]);
  });

  it('has a total whose number stands in the column of a text', async () => {
    const { rows, guesses } = await read('a.csv', 'shot,prompt\nx,a fox\ny,an owl\nTotal,2\n');
    expect(prompts(rows)).toEqual(['a fox', 'an owl']);
    expect(guesses[0]).toMatch(/^\? row 4 \("Total 2"\) is not a row/);
  });

  it('is turned by 90°', async () => {
    await expect(read('a.csv', 'prompt,a fox,an owl\nseed,1,2\ncfg,7,8\n')).rejects.toMatchObject({
      code: 'E104',
      message: expect.stringContaining('turned by 90°') as string,
    });
  });

  it('has rows that continue the row above', async () => {
    const text = 'Handle,Title,Image\na,Fox,https://x/1.png\na,,https://x/2.png\nb,Owl,https://x/3.png\n';
    const options = { map: { prompt: 'Title', image: 'Image' }, fillDown: ['Title'] };
    expect(prompts((await read('a.csv', text, options)).rows)).toEqual(['Fox', 'Fox', 'Owl']);
    await expect(read('a.csv', 'Handle,prompt\na,Fox\na,\nb,Owl\n')).rejects.toMatchObject({
      code: 'E112',
      hint: expect.stringContaining('--fill-down prompt') as string,
    });
    const sums = await read('a.csv', 'id,prompt,seed\na,fox,1\nb,,2\nTotal,,3\n', { fillDown: ['prompt'] });
    expect(sums.rows).toEqual(['a {"prompt":"fox","seed":1}', 'b {"prompt":"fox","seed":2}']);
    expect(sums.guesses[0]).toMatch(/^\? row 4 \("Total 3"\) is not a row/);
    await expect(read('a.csv', text, { fillDown: ['Titel'] })).rejects.toMatchObject({ code: 'E206' });
  });

  it('has equal rows, of which the first is enough if that is wanted', async () => {
    const text = 'prompt,note\na,1\nb,2\na,3\n';
    expect(prompts((await read('a.csv', text, { unique: true })).rows)).toEqual(['a', 'b']);
    expect(prompts((await read('a.csv', text, { unique: false })).rows)).toEqual(['a', 'b', 'a']);
  });

  it('has no header', async () => {
    const options = { headerRow: 0, columns: ['prompt', 'seed'] };
    expect((await read('a.csv', 'a,1\nb,2\n', options)).rows).toEqual([
      '{"prompt":"a","seed":1}',
      '{"prompt":"b","seed":2}',
    ]);
  });

  it('is a list of prompts, one a line', async () => {
    expect(await read('prompts.txt', 'a fox, red\n\nan owl "at night"\n')).toEqual({
      rows: ['{"prompt":"a fox, red"}', '{"prompt":"an owl \\"at night\\""}'],
      guesses: [
        'each line is one prompt, also the first (--delimiter none --columns prompt --header-row none)',
        '1 blank row left out',
      ],
    });
    expect((await read('table.txt', 'prompt\tseed\na\t1\n')).rows).toEqual(['{"prompt":"a","seed":1}']);
  });

  it('has comments among colours, which are sent', async () => {
    const inputTypes = [input('colour', 'string'), input('prompt', 'string')];
    const text = 'colour,prompt\nred,a\n#ff0000,b\n# note,\n#00ff00,c\n';
    const { rows, guesses } = await read('a.csv', text, {}, { inputTypes });
    expect(rows).toHaveLength(3);
    expect(guesses[0]).toMatch(/^\? row 4 \("# note"\) is a comment.*\(--comment none --skip-rows 4\)$/);
  });

  it('has values that begin as comments do, whose rows are surveyed as others are', async () => {
    const colours = { inputTypes: [input('colour', 'string')] };
    const { guesses } = await read('a.csv', 'colour\n#ff0000\n# note\n#00ff00\n', {}, colours);
    expect(guesses[0]).toMatch(/^\? row 3 \("# note"\) is a comment/);
    const styled = { inputTypes: [input('prompt', 'string'), input('style', 'string')] };
    const text = 'id,prompt,style\n#1,a,oil\n#2,b,n/a\n#3,c,ink\n';
    const told = (await read('a.csv', text, { drop: ['id'] }, styled)).guesses;
    expect(told.join()).toContain('1 cell n/a is taken for empty');
  });

  it('has columns that resemble inputs, which are asked about', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('style', 'string')];
    expect((await read('a.csv', 'prompt,style_preset\na,oil\n', {}, { inputTypes })).guesses).toEqual([
      '? column "style_preset" is the input style, not data (--map style=style_preset)',
    ]);
    expect(
      (await read('a.csv', 'prompt,style A,style B\na,oil,ink\n', {}, { inputTypes })).guesses[0],
    ).toMatch(/^\? the columns "style A", "style B" resemble the input style and are kept as data/);
  });

  it.each([
    ['GPU model', 'RTX 4090,H100', '"RTX 4090" is no GPU of this service'],
    ['Num Images', '4,1', 'the deployment has no such input'],
    ['Aspect Ratio', '16:9,1:1', 'the deployment has no such input'],
  ])('has a column %s that is not sent, which is asked about', async (name, cells, why) => {
    const [first, second] = cells.split(',');
    const { guesses } = await read('a.csv', `prompt,${name}\na,${first}\nb,${second}\n`);
    expect(guesses).toContain(`? column "${name}" is not sent: ${why} (--drop '${name}')`);
  });

  it('has the name of a column in braces in a cell, which is no template', async () => {
    const text = 'prompt,style\n"a fox in {style}, {red|blue}",oil\nan owl,ink\n';
    const question =
      '? cells of "prompt" have {style}, which is sent as it stands; only a text set for all rows has templates (--drop style)';
    expect((await read('a.csv', text)).guesses).toContain(question);
    expect((await read('a.csv', text, { drop: ['style'] })).guesses).toEqual([
      '? cells of "prompt" have {red|blue}, which is sent as text (--tags send)',
    ]);
  });
});

describe('a table of Markdown', () => {
  it('has its rows without the line below the header and the blanks around its cells', async () => {
    const { rows, guesses } = await read(
      'a.csv',
      '| prompt | cfg |\n|:---|---:|\n| a fox | 7 |\n| an owl | 8 |\n',
    );
    expect(rows).toEqual(['{"cfg":7,"prompt":"a fox"}', '{"cfg":8,"prompt":"an owl"}']);
    expect(guesses.join()).toContain('--totals skip');
  });
});

describe('rows that continue the row above', () => {
  const text = 'Handle,Title,Nr\nfox,a fox,1\nfox,,2\nowl,an owl,3\n';
  const options = { set: { prompt: 'a photo of {Title}, {Nr}' } };

  it('have its title in a template, which is asked', async () => {
    const { rows, guesses } = await read('a.csv', text, options);
    expect(rows[1]).toContain('"a photo of a fox, 2"');
    expect(guesses).toContain(
      `? 1 row has the "Title" of the row above, which they continue; to leave them out: --where 'Title != ""' (--fill-down Title)`,
    );
    expect((await read('a.csv', text, { ...options, where: 'Title != ""' })).rows).toHaveLength(2);
  });

  it('lack a cell of the text if nothing else continues', async () => {
    const { guesses } = await read('a.csv', text.replace('fox,,', 'hen,,'), options);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      expect.stringMatching(/^\? the text of prompt lacks "Title" in row 3,/),
    ]);
  });
});
