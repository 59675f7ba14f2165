// Sheets that are refused although people have them, with what mends them.

import { describe, expect, it } from 'vitest';
import { correctionsOf, furtherOf, SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

/** Before the test ends, which removes it. */
describe('a sheet is refused', () => {
  const refusal = async (text: string | Uint8Array): Promise<readonly (string | undefined)[]> => {
    const error = await read('a.csv', text).then(
      () => undefined,
      (thrown: unknown) =>
        thrown as { readonly code: string; readonly message: string; readonly hint?: string },
    );
    return [error?.code, error?.message, error?.hint];
  };

  it('if rows have no input, with the flag that leaves them out', async () => {
    expect(await refusal('prompt,seed,note\na,1,\n,,x\n,,y\nb,2,\n')).toEqual([
      'E112',
      'rows 3-4 of a.csv are empty in every column of an input',
      `if they are not rows of the batch, add: --where 'prompt != "" or seed != ""'`,
    ]);
  });

  it('if its first row is no header, with the flags that read it as a row', async () => {
    const corrections = async (text: string) =>
      correctionsOf((await read('a.csv', text).catch((thrown: unknown) => thrown)) as SheetRefused);
    const flags = (columns: string) => [
      {
        add: [
          ['--header-row', 'none'],
          ['--columns', columns],
        ],
      },
    ];
    expect(await refusal('a fox in the snow,1,20\nan owl at night,2,30\n')).toEqual([
      'E104',
      'the first row seems to be no header: "1" is a value',
      'if it is a row: --header-row none --columns prompt; if it is the header: --header-row 1',
    ]);
    expect(await corrections('7,a fox in the snow\n8,an owl at night\n')).toEqual(flags('A,prompt'));
    expect(await corrections('a fox in the snow\nan owl at night\n')).toEqual(flags('prompt'));
    const named = await read('a.csv', '7,a fox in the snow\n8,an owl at night\n', {
      headerRow: 0,
      columns: ['A', 'prompt'],
    });
    expect(named.rows).toEqual(['{"prompt":"a fox in the snow"}', '{"prompt":"an owl at night"}']);
  });

  it.each([
    ['a cat\nNegative prompt: blurry\nSteps: 20\n\n', 'Steps: 20', 'Negative prompt,Steps'],
    ['prompt = a cat\n', 'prompt = a cat', 'prompt'],
  ])(
    'if its lines begin with names of settings, and each would be a prompt: %j',
    async (text, line, names) => {
      await expect(read('prompts.txt', text)).rejects.toMatchObject({
        code: 'E104',
        message: `each line would be one prompt, even ${JSON.stringify(line)}, which begins with the name of a setting`,
        hint: `make it a table: ${names} in the first line, below it a line for each run; if each line is one prompt: --delimiter none --columns prompt --header-row none`,
      });
      const asPrompts = { delimiter: 'none', headerRow: 0, columns: ['prompt'] };
      expect((await read('prompts.txt', text, asPrompts)).rows[0]).toContain(text.split('\n')[0]);
    },
  );

  it.each([
    ['PARAGRAPH 1\n----\na cat\n\nPARAGRAPH 2\n----\na dog\n', '1-2,5-6', 'PARAGRAPH 1'],
    ['====\nPROMPTS\nof May\n====\na cat\na dog\n', '1-4', 'PROMPTS'],
  ])(
    'if its lines have headings, which would be prompts, with the flag that leaves them out: %j',
    async (text, lines, heading) => {
      await expect(read('prompts.txt', text)).rejects.toMatchObject({
        code: 'E104',
        message: `each line would be one prompt, even ${JSON.stringify(heading)}, which is above a rule like a heading`,
        hint: `to leave out headings and rules: --skip-rows ${lines}; if each line is one prompt: --delimiter none --columns prompt --header-row none`,
      });
      const skipRows = lines.split(',').map((range) => {
        const [from = 0, to = from] = range.split('-').map(Number);
        return { from, to };
      });
      const { rows } = await read('prompts.txt', text, { skipRows });
      expect(rows).toEqual(['{"prompt":"a cat"}', '{"prompt":"a dog"}']);
    },
  );

  it.each([
    ['a cat\n---\na dog\n---\na fox\n', 3],
    ['a cat\na dog\n---\na fox\n', 3],
    ['a cat\n\n---\n\na dog\na fox\n', 3],
  ])('not because of rules that only separate its prompts: %j', async (text, count) => {
    expect((await read('prompts.txt', text)).rows).toHaveLength(count);
  });

  it('if its header is repeated', async () => {
    expect((await refusal('prompt,seed\na,1\nprompt,seed\nb,2\n'))[1]).toBe(
      'row 3 of a.csv repeats the header',
    );
  });

  it('if two columns may be the same input', async () => {
    expect(await refusal('Prompt,prompt\na,b\n')).toEqual([
      'E208',
      'the columns "Prompt", "prompt" may both be the input prompt',
      'name one of them, and drop the others: --map prompt=Prompt --drop prompt',
    ]);
  });

  const refusedSheet = async (reading: Promise<unknown>): Promise<SheetRefused> => {
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    if (error instanceof SheetRefused) return error;
    throw new Error('it was not refused');
  };
  const shown = ({ problems }: SheetRefused): readonly (string | undefined)[][] =>
    problems.map(({ code, message, place }) => [code, place?.excerpt, message]);

  it('if a GPU is unknown in several rows, with each cell', async () => {
    const refused = await refusedSheet(read('a.csv', 'prompt,gpu\na,H10\nb,H10\n'));
    expect(refused.byCode).toEqual({ E201: 2 });
    expect(shown(refused)).toHaveLength(2);
  });

  it('if a seed is set where there is none, without the name of another setting', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('speed', 'float')];
    const refusalOf = (options: object) =>
      read('a.csv', 'prompt\na\n', options, { inputTypes }).catch((error: unknown) => error);
    for (const options of [{ grid: { seed: ['1', '2'] } }, { set: { seed: '1' } }])
      expect(await refusalOf(options)).toMatchObject({ code: 'E602', hint: 'inputs: prompt, speed' });
  });

  it('if no column is an input', async () => {
    expect((await refusal('name,price\na,1\n'))[0]).toBe('E200');
  });

  it('if a number may have a decimal comma or thousands', async () => {
    expect((await refusal('prompt;cfg\na;1,234\n'))[0]).toBe('E200');
  });

  it('with the flag that leaves out rows with errors, unless most have one, and never a column', async () => {
    const inputTypes = [
      input('prompt', 'string', { required: true }),
      input('steps', 'int', { min: 1 }),
      input('sampler', 'enum', { options: ['euler'] }),
    ];
    const corrections = async (text: string) =>
      correctionsOf(await refusedSheet(read('a.csv', text, {}, { inputTypes })));
    expect(await corrections('prompt,steps,sampler\na,0,8\nb,3,8\nc,4,8\n')).toEqual([
      { add: [['--invalid', 'skip']] },
    ]);
    expect(await corrections('prompt,sampler\na,8\nb,9\nc,euler\n')).toEqual([]);
    expect(await corrections('prompt,sampler\na,8\nb,euler\nc,euler\n')).toEqual([
      { add: [['--invalid', 'skip']] },
    ]);
    expect(await corrections('prompt,steps\na,x\nb,y\nc,4\n')).toEqual([]);
  });

  it('with the column of a required input, and none of several alike', async () => {
    const corrections = async (text: string, inputTypes = [input('prompt', 'string', { required: true })]) =>
      correctionsOf(await refusedSheet(read('a.csv', text, {}, { inputTypes }))).flatMap((correction) =>
        'add' in correction ? correction.add : [],
      );
    expect(await corrections('subject,seed\na fox in the snow,1\n')).toEqual([['--map', 'prompt=subject']]);
    // A command that takes the first would leave the cells of the second unsent.
    expect(await corrections('prompt_en,prompt_de\na fox,ein schöner Fuchs\n')).toEqual([]);
    expect(await corrections('image_prompt,motion_prompt,s\na fox,it jumps,1\n')).toEqual([]);
    expect(await corrections('sku,product,style\n1,mug,oil painting\n')).toEqual([]);
    const both = ['text', 'target_lang'].map((name) => input(name, 'string', { required: true }));
    expect(await corrections('key,en,target\nx,Home,de\n', both)).toEqual([
      ['--map', 'text=en'],
      ['--map', 'target_lang=target'],
    ]);
    const form = '2025/11/02 9:14:03 p. m. CET,My dog in a top hat\n';
    expect(await corrections(`When,What?\n${form}${form}`)).toEqual([['--map', 'prompt=What?']]);
    // Times of subtitles are no language, and neither are words of columns that do not say so.
    const cue = 'start,end,text\n00:00:01,00:00:02,a fox\n';
    expect(await corrections(cue, both)).toEqual([]);
    expect(await corrections('speaker,mood,text\nAnn,glad,a fox\n', both)).toEqual([]);
    // A command that is refused again is none.
    const image = input('image', 'image', { required: true });
    expect(await corrections('product\nmug\n', [...both.slice(0, 1), image])).toEqual([]);
  });

  it('with each of several likely columns, and for a prompt with all of them', async () => {
    const hint = async (text: string, name: string) => {
      const inputTypes = [input(name, 'string', { required: true })];
      const [first] = (await refusedSheet(read('a.csv', text, {}, { inputTypes }))).problems;
      return first?.hint?.replace(/^columns of this sheet: .*; add /, '');
    };
    const goods = 'product,style\nmug,oil painting\n';
    expect(await hint(goods, 'prompt')).toBe(
      "--map prompt=product, or --map prompt=style, or --set 'prompt={product}, {style}', or --set prompt=<value>",
    );
    expect(await hint(goods, 'text')).toBe('--map text=product, or --map text=style, or --set text=<value>');
    const states =
      'Artikel;Fertig;Stand;Preis;Gewicht\nPfanne;ja;offen;12,50 €;2 kg\nTopf;nein;fertig;EUR 8;1 kg\n';
    expect(await hint(states, 'prompt')).toBe('--map prompt=Artikel or --set prompt=<value>');
    expect(await hint('line,note\nHello.,Softly spoken.\nBye.,Louder.\n', 'text')).toBe(
      '--map text=line, or --map text=note, or --set text=<value>',
    );
  });

  it.each([
    [
      'Scene,Character,Dialogue,Emotion\n1,ANNA,Hello there.,sad\n1,HANS,Who is it?,angry and loud as before\n',
      'Dialogue',
    ],
    ['番号,話者,セリフ\n1,花子,こんにちは。\n2,太郎,元気ですか。\n', 'セリフ'],
    ['id,sentence,speaker\na,Rain came.,Anna\nb,It left!,Hans\n', 'sentence'],
    ['ID,Sprecher,Replik,Stimme\n1,ANNA,Guten Tag.,warm\n2,HANS,Wer ist da?,tief\n', 'Replik'],
    ['Personnage,Réplique,Notes\nANNA,Bonjour.,doux\nHANS,Qui est là ?,\n', 'Réplique'],
  ])('with the one column that is spoken: %j', async (text, column) => {
    const inputTypes = [input('text', 'string', { required: true }), input('voice', 'string')];
    const [correction] = correctionsOf(await refusedSheet(read('a.csv', text, {}, { inputTypes })));
    expect(correction).toEqual({ add: [['--map', `text=${column}`]] });
  });

  it('without a flag that leaves rows out or multiplies them, if the meant value is known or the cell is no list', async () => {
    const types = [
      input('prompt', 'string', { required: true }),
      input('steps', 'int'),
      input('sampler', 'string', { options: ['euler', 'dpmpp_2m'] }),
    ];
    const flagsFor = async (text: string): Promise<readonly unknown[]> =>
      correctionsOf(
        (await read('a.csv', text, {}, { inputTypes: types }).catch(
          (thrown: unknown) => thrown,
        )) as SheetRefused,
      );
    const rows = 'a,euler,20\nb,euler,30\n';
    expect(await flagsFor(`prompt,sampler,steps\n${rows}c,DPM++ 2M Karras,20\n`)).toEqual([]);
    expect(await flagsFor(`prompt,sampler,steps\n${rows}c,euler,25-30\n`)).toEqual([
      { add: [['--invalid', 'skip']] },
    ]);
    expect(await flagsFor(`prompt,sampler,steps\n${rows}c,euler,25;30\n`)).toEqual([
      { add: [['--split', 'steps']] },
    ]);
    const unmapped = (await read(
      'a.csv',
      'Title,Setting,Steps\nFox,a dark forest at night,20\nOwl,,30\nCat,a city street in rain,20\n',
      {},
      { inputTypes: types },
    ).catch((thrown: unknown) => thrown)) as SheetRefused;
    expect(correctionsOf(unmapped)).toEqual([{ add: [['--map', 'prompt=Setting']] }]);
    expect(
      furtherOf(unmapped).corrections.flatMap((correction) => ('add' in correction ? correction.add : [])),
    ).toEqual([]);
  });

  it('without the flag for several values where a number may have thousands', async () => {
    const corrections = async (cell: string) =>
      correctionsOf(await refusedSheet(read('a.csv', `prompt,seed\na,"${cell}"\nb,x\n`)));
    const split = { add: [['--split', 'seed']] };
    expect(await corrections('1,2,3')).toEqual([split]);
    expect(await corrections('42,43,44')).toEqual([split]);
    expect(await corrections('1,00,000')).toEqual([]);
    expect(await corrections('12,34,567')).toEqual([]);
  });

  it('with what its first 10,000 rows lack too, so that a large sheet is not read again', async () => {
    const rowsOf = (count: number): string => 'words of a prompt,x,1\n'.repeat(count);
    const lacking = async (count: number) => {
      const sheet = `describe,note,seed\n${rowsOf(count)}words of a prompt,x,one\n`;
      return furtherOf(await refusedSheet(read('a.csv', sheet)));
    };
    // A bad row is seen by the user before a command skips it.
    expect(await lacking(9_999)).toEqual({ corrections: [], texts: [expect.stringContaining('"one"')] });
    expect((await lacking(10_000)).corrections).toEqual([{ add: [['--no-unique']] }]);
  });

  it('if its bytes are letters in no encoding', async () => {
    expect((await refusal(Buffer.from([0x61, 0xff, 0x81, 0x0a])))[1]).toBe(
      'a.csv is not UTF-8, and its letters look right in no encoding: see line 1',
    );
  });
});
