// Columns of settings and states: none is left out without a question, and a printed command loses no cell of theirs.

import { describe, expect, it } from 'vitest';
import { Console } from '../../console/console.ts';
import { input } from '../laying.ts';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { INPUTS, read } from './reading.ts';

const SIZED = [input('prompt', 'string', { required: true }), input('width', 'int'), input('height', 'int')];
const SAMPLED = [
  input('prompt', 'string', { required: true }),
  input('sampler', 'enum', { options: ['euler', 'euler_a', 'dpmpp_2m'] }),
  input('scheduler', 'enum', { options: ['normal', 'karras'] }),
];
const VIDEO = [
  input('prompt', 'string', { required: true }),
  input('duration', 'int'),
  input('aspect_ratio', 'string', { options: ['16:9', '9:16', '1:1'] }),
];

describe('a column that has the values of two inputs', () => {
  it('is asked to fill width and height, whatever it is called', async () => {
    expect(
      await read('a.csv', 'prompt,Format\na,1920x1080\nb,1024 × 768\n', {}, { inputTypes: SIZED }),
    ).toEqual({
      rows: ['{"height":1080,"prompt":"a","width":1920}', '{"height":768,"prompt":"b","width":1024}'],
      guesses: [
        '? column "Format" has two inputs: 1920x1080 is width 1920 and height 1080; to leave column "Format" out: --drop Format (--map width=Format --map height=Format)',
      ],
    });
  });

  it('is no size in pixels if it may be in centimetres, or where another column is the width', async () => {
    const posters = await read('a.csv', 'prompt,Format\na,30x40\n', {}, { inputTypes: SIZED });
    expect(posters.rows).toEqual(['{"prompt":"a"}']);
    expect(posters.guesses).toEqual(['Format is not an input and changes nothing (--drop Format)'].slice(1));
    const both = await read('a.csv', 'prompt,width,Format\na,512,1920x1080\n', {}, { inputTypes: SIZED });
    expect(both.guesses).toEqual([
      '? column "Format" is not sent: the deployment has no such input (--drop Format)',
    ]);
  });

  it('is a sampler with its scheduler, and cells without one leave it empty', async () => {
    const text = 'prompt,sampler\na,DPM++ 2M Karras\nb,Euler a\n';
    expect(await read('a.csv', text, {}, { inputTypes: SAMPLED })).toEqual({
      rows: [
        '{"prompt":"a","sampler":"dpmpp_2m","scheduler":"karras"}',
        '{"prompt":"b","sampler":"euler_a"}',
      ],
      guesses: [expect.stringMatching(/^\? .*DPM\+\+ 2M Karras is sampler dpmpp_2m and scheduler karras/)],
    });
    const json = '[{"prompt":"a","sampler":"DPM++ 2M Karras"},{"prompt":"b","sampler":"euler"}]';
    const map = { sampler: 'sampler', scheduler: 'sampler' };
    expect((await read('a.json', json, { format: 'json', map }, { inputTypes: SAMPLED })).rows).toEqual([
      '{"prompt":"a","sampler":"dpmpp_2m","scheduler":"karras"}',
      '{"prompt":"b","sampler":"euler"}',
    ]);
  });
});

describe('a setting that no input takes', () => {
  it.each([
    ['prompt,size\na,1920x1080\n', /"size" is not sent/],
    ['prompt,model\na,sdxl\n', /"model" is not sent/],
    ['prompt,params\na,size=1024x1024; steps=28\n', /"params" is not sent: .*several settings/],
    ['prompt,params\na,"{""steps"": 28, ""seed"": 5}"\n', /"params" is not sent: .*several settings/],
    ['prompt,evaluation_guidance\na,7.5\nb,13\n', /"evaluation_guidance" is the input cfg/],
    ['prompt,sd_guidance_scale\na,7.5\n', /"sd_guidance_scale" is the input cfg/],
    ['prompt\na <lora:detail:0.8> fox\n', /<lora:detail:0\.8>, which is sent as text/],
    ['prompt\na fox __film/styles__\n', /__film\/styles__, which is sent as text/],
    ['name,prompt\nclay,"clay of {prompt}"\n', /\{prompt\}, which is sent as text/],
  ])('is asked: %j', async (text, question) => {
    const { guesses } = await read('a.csv', text);
    const questions = guesses.filter((guess) => guess.startsWith('? '));
    expect(questions).toEqual([expect.stringMatching(question)]);
  });

  it('is no sentence with a colon or an equals sign', async () => {
    const { guesses } = await read('a.csv', 'prompt,note\na,palette: warm\nb,x = y\n');
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
  });

  it('has none of the values of its input, which is asked', async () => {
    const { rows, guesses } = await read('a.csv', 'prompt,sampler\na,8\nb,9\n', {}, { inputTypes: SAMPLED });
    expect(rows).toEqual(['{"prompt":"a"}', '{"prompt":"b"}']);
    expect(guesses).toEqual([
      '? column "sampler" is not sent, because none of its cells is one of euler euler_a dpmpp_2m; to send it: --map sampler=sampler (--drop sampler)',
    ]);
  });
});

describe('a column that says which rows are to run', () => {
  it.each([
    ['enabled', 'TRUE,FALSE,TRUE', 'enabled = "FALSE"', 1],
    ['generate?', 'yes,no,yes', '"generate?" = "yes"', 2],
    ['Status', 'Done,To do,Done', 'Status = "To do"', 1],
    ['Use', 'x,,x', 'Use != "x"', 1],
    ['Use', 'x,,x', 'Use = "x"', 2],
    ['Done?', 'x,x,,,,no', '"Done?" != "x"', 4],
    ['Skip', 'yes,yes,no,TBD,', 'Skip != "yes"', 3],
    ['Take OK?', 'ok,ok,,', '"Take OK?" != "ok"', 2],
    ['Shot', 'ok,OK,,', 'Shot not in ("ok", "OK")', 2],
    ['Done?', 'yes,x,,no,TBD', '"Done?" not in ("yes", "x")', 3],
    ['Rendered', '1 May,2 May,3 May,4 May,5 May,6 May,7 May,', 'Rendered = ""', 1],
    ['erledigt', 'ja,nein,ja', 'erledigt = "nein"', 1],
    ['Fait', 'oui,non,non', 'Fait = "non"', 2],
    ['Hecho', 'Sí,No,Sí,', 'Hecho != "Sí"', 2],
    ['готово', 'да,нет,да', '"готово" = "нет"', 1],
    ['完成', '是,否,否', '"完成" = "否"', 2],
    ['fertig', '1,0,1', 'fertig = "0"', 1],
    ['fertig', 'x,,x', 'fertig != "x"', 1],
    ['Status', 'Done,DONE,DONE ,', 'Status not in ("Done", "DONE", "DONE ")', 1],
    ['tone', 'oil,pen,oil,pen', 'tone = "oil"', 2],
  ])(
    'is asked, with an answer for some and its number of rows: %s %s',
    async (name, joined, where, count) => {
      const cells = joined.split(',');
      const text = `prompt,${name}\n${cells.map((cell, at) => `fox ${at},${cell}\n`).join('')}`;
      const { rows, guesses } = await read('a.csv', text);
      expect(rows).toHaveLength(cells.length);
      expect(guesses).toEqual([expect.stringMatching(/^\? all rows run, whatever column/)]);
      const counted = new RegExp(
        `run (?:the )?(\\d+) of ${cells.length} rows[^;]*: [^;]*--where '${where.replaceAll(/[?()]/g, String.raw`\$&`)}'`,
      );
      expect(counted.exec(guesses[0] ?? '')?.[1]).toBe(String(count));
      const some = await read('a.csv', text, { where });
      expect(some.rows).toHaveLength(count);
      expect(some.guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
    },
  );

  it.each([
    ['tone', 'gloomy,bright,gloomy,bright'],
    ['size', 'S,M,S,M'],
    ['Created', '1 May 2026,2 May 2026,3 May 2026'],
    ['Amount refunded', '0.00,29.00,0.00'],
    ['Address 1 - Formatted', 'Quay 3,Hill 4'],
    ['Archived', 'false,false,false'],
    ['Which room is it?', 'Hall,Kitchen,Office'],
    ['note', 'x,y,x,y'],
    ['index', '0,1'],
    ['ok', 'yes,yes,yes'],
    ['speed', 'fast,slow'],
    ['lens', '50mm,,'],
    ['Speaker', 'Amy,Tom,Amy,Tom'],
    ['Character', 'Ann,Bo,Ann,Bo'],
    ['Sprecher', 'fuchs,,fuchs'],
    ['Held by', 'Max,Mia,Max,Mia'],
  ])('is none: %s', async (name, cells) => {
    const text = `prompt,${name}\n${cells
      .split(',')
      .map((cell, at) => `fox ${at},${cell}\n`)
      .join('')}`;
    const { guesses } = await read('a.csv', text);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
  });
});

const SHOT = [
  input('prompt', 'string', { required: true }),
  input('negative_prompt', 'string'),
  input('image_url', 'string'),
  input('mask', 'image'),
  input('duration', 'int'),
  input('width', 'int'),
  input('height', 'int'),
  input('sampler', 'string', { options: ['euler', 'dpmpp_2m'] }),
];

describe('a column that is not sent while an input of its shape has none', () => {
  it.each([
    ['Neg. prompt', 'blurry;text', /"Neg\. prompt" is the input negative_prompt.*--drop.*\(--map/],
    ['Negatives', 'blurry;text', /"Negatives" is the input negative_prompt/],
    [
      'Avoid',
      '"people, text";blurry',
      /"Avoid" is not sent, and negative_prompt has no column; .*--map negative_prompt=Avoid/,
    ],
    [
      'Start frame',
      'https://a.b/1.png;https://a.b/2.png',
      /"Start frame" is not sent, and image_url, mask have no column/,
    ],
    ['Length', '5s;8s', /"Length" is not sent, and duration has no column/],
    ['length', '6;4', /"length" is not sent, and duration has no column; .*--map duration=length/],
    ['Dauer', '30;45', /"Dauer" is the input duration/],
    ['Look', 'euler;dpmpp_2m', /"Look" is the input sampler, not data; .*--drop Look/],
    ['Look', 'euler;bright', /"Look" is not sent, and sampler has no column/],
    ['Images', '4;4', /"Images" .* how often each row runs; .*--repeat Images/],
    ['Qty', '4;1', /"Qty" .* how often each row runs/],
    ['Style', 'oil painting;ink', /"Style" is not sent, .*--set 'prompt=\{prompt\}\[, \{Style\}\]'/],
    [
      'Prompt v2',
      'a red fox;an owl',
      /"Prompt v2" is not sent: "prompt" is the input prompt; .*--map 'prompt=Prompt v2'/,
    ],
    [
      'Size',
      '1024x768;square',
      /"Size" is not sent: "square" is no width and height; .*--map width=Size --map height=Size/,
    ],
    ['Size', '1024x768;A4', /"Size" is not sent: "A4" is no width/],
  ])('is asked: %s', async (name, cells, question) => {
    const text = `prompt,${name}\n${cells
      .split(';')
      .map((cell, at) => `fox ${at},${cell}\n`)
      .join('')}`;
    const { guesses } = await read('a.csv', text, {}, { inputTypes: SHOT });
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([expect.stringMatching(question)]);
  });

  it.each([
    ['image,prompt,Length\na.png,the door,5\n', {}],
    ['image,Idea,Length\na.png,the door,5\n', { map: { prompt: 'Idea' } }],
    ['image,Idea,Length\na.png,the door,5\n', { set: { prompt: 'a {Idea}' } }],
    ['image,prompt,Length,Clip,Who,Place\na.png,the door,5,C1,Ann,Bari\n', {}],
    ['image,prompt,Motion\na.png,the door,60 %\n', {}],
  ])('is asked whatever flags and further columns there are: %j %j', async (text, options) => {
    const inputTypes = [
      input('prompt', 'string', { required: true }),
      input('image', 'string'),
      input('duration', 'int'),
      input('motion_strength', 'float', { min: 0, max: 1 }),
    ];
    const { guesses } = await read('a.csv', text, options, { inputTypes });
    expect(guesses.filter((guess) => guess.startsWith('? ')).join('\n')).toMatch(
      /"(?:Length|Motion)" is (?:not sent, and (?:duration|motion_strength) has no column|the input)/,
    );
  });

  it('is sent to the only input of addresses if most of its cells are some', async () => {
    const text = 'prompt,Referencia\na fox,https://a.b/1.png\nan owl,https://a.b/2.png\na crow,(same as 1)\n';
    const inputTypes = SHOT.filter(({ name }) => name !== 'mask');
    const { guesses } = await read('a.csv', text, {}, { inputTypes });
    expect(guesses[0]).toBe(
      '? column "Referencia" is the input image_url, not data; to leave column "Referencia" out: --drop Referencia (--map image_url=Referencia)',
    );
  });

  it('is left open by the printed command if it has files, and an input of files has none', async () => {
    const console = await Console.open([{ name: 'shots', inputTypes: SHOT }]);
    const text = 'prompt,Length,Frame\na fox,5s,https://a.b/1.png\nan owl,8s,https://a.b/2.png\n';
    const { stderr } = await console.run('plan', console.write('shots.csv', text), '-d', 'shots');
    expect(stderr).toContain('"Frame" is not sent, and image_url, mask have no column');
    const [, command = ''] = /^ {2}run +(.*)$/m.exec(stderr) ?? [];
    expect(command).toContain('--drop Length');
    expect(command).not.toContain('Frame');
  });

  it('in a sheet whose prompt has no column yet does not make rows without it empty', async () => {
    const refusal = read(
      'a.csv',
      'Was zu sehen ist,Dauer\nein roter Fuchs im Schnee,5s\neine Eule in der Nacht,\n',
      {},
      { inputTypes: SHOT },
    );
    await expect(refusal).rejects.toMatchObject({ problems: [{ code: 'E203' }] });
  });

  it.each([
    ['Scene', '1;2'],
    ['Product', 'Chair;Lamp'],
    ['Year', '2024;1999'],
    ['Rating', '1;1'],
    ['Take', '1;2'],
  ])('is no data: %s', async (name, cells) => {
    const text = `prompt,${name}\n${cells
      .split(';')
      .map((cell, at) => `fox ${at},${cell}\n`)
      .join('')}`;
    const { guesses } = await read('a.csv', text, {}, { inputTypes: SHOT });
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
  });
});

describe('a column of the only input of its kind', () => {
  const CLIP = [...VIDEO, input('image_url', 'string'), input('width', 'int'), input('height', 'int')];

  it.each([
    ['Formato', '16:9;9:16', 'aspect_ratio'],
    ['Referencia', 'https://a.b/1.png;https://a.b/2.png', 'image_url'],
  ])('is sent there unless its user leaves it out: %s', async (name, cells, taker) => {
    const values = cells.split(';');
    const text = `prompt,${name}\n${values.map((cell, at) => `fox ${at},${cell}\n`).join('')}`;
    const { rows, guesses } = await read('a.csv', text, {}, { inputTypes: CLIP });
    expect(rows.map((row) => (JSON.parse(row) as Record<string, unknown>)[taker])).toEqual(values);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      `? column "${name}" is the input ${taker}, not data; to leave column "${name}" out: --drop ${name} (--map ${taker}=${name})`,
    ]);
  });
});

describe('a cell that is nearly right', () => {
  it('has a ratio in another form, or the shape of one choice', async () => {
    const text = 'prompt,aspect_ratio\na,9x16\nb,landscape\nc,16:9\n';
    expect((await read('a.csv', text, {}, { inputTypes: VIDEO })).rows).toEqual([
      '{"aspect_ratio":"9:16","prompt":"a"}',
      '{"aspect_ratio":"16:9","prompt":"b"}',
      '{"aspect_ratio":"16:9","prompt":"c"}',
    ]);
    const several = [...VIDEO.slice(0, 1), input('aspect_ratio', 'string', { options: ['16:9', '4:3'] })];
    await expect(
      read('a.csv', 'prompt,aspect_ratio\na,landscape\nb,4:3\n', {}, { inputTypes: several }),
    ).rejects.toBeInstanceOf(SheetRefused);
  });

  it('has seconds in each of their forms, which is asked', async () => {
    const text = 'prompt,duration\na,10s\nb,5 seconds\nc,0:05\nd,1:02:03\ne,"6"""\n';
    expect(await read('a.csv', text, {}, { inputTypes: VIDEO })).toEqual({
      rows: [10, 5, 5, 3723, 6].map((duration, at) => JSON.stringify({ duration, prompt: 'abcde'[at] })),
      guesses: ['? column "duration": 10s is read as 10 (--type duration=int)'],
    });
  });

  it('begins with a choice, which the refusal names, without a command that leaves the column out', async () => {
    const error = await read(
      'a.csv',
      'prompt,sampler\na,DPM++ 2M Karras\nb,euler\n',
      {},
      { inputTypes: SAMPLED.slice(0, 2) },
    ).catch((refusal: unknown) => refusal as SheetRefused);
    expect(error).toMatchObject({ problems: [{ code: 'E201', hint: expect.stringContaining('dpmpp_2m') }] });
    expect(
      JSON.stringify((error as SheetRefused).problems.map(({ correction }) => correction)),
    ).not.toContain('--drop');
  });

  it('is a seed of -1, which means a random one and is left empty when confirmed', async () => {
    expect(await read('a.csv', 'prompt,seed\na,-1\nb,7\n')).toEqual({
      rows: ['{"prompt":"a"}', '{"prompt":"b","seed":7}'],
      guesses: [
        '? the seed -1 means a random one, as an empty cell does; to send all of them: --null keep (--null -1)',
      ],
    });
    const kept = await read('a.csv', 'prompt,seed\na,-1\n', { null: ['keep'] });
    expect(kept).toEqual({ rows: ['{"prompt":"a","seed":-1}'], guesses: [] });
    expect((await read('a.csv', 'prompt,cfg\na,-1\n')).rows).toEqual(['{"cfg":-1,"prompt":"a"}']);
  });
});

describe('a column that names or measures a text', () => {
  const refusedBy = async (text: string, inputTypes = INPUTS) =>
    read('a.csv', text, {}, { inputTypes }).then(
      ({ guesses }) => guesses.join('\n'),
      (error: unknown) =>
        (error as SheetRefused).problems
          .flatMap(({ correction }) =>
            correction && 'add' in correction ? correction.add.map((flag) => flag.join(' ')) : [],
          )
          .join('\n'),
    );

  it.each([
    ['prompt_id,subject\n17,a red fox\n18,a grey owl\n', '--map prompt=subject'],
    ['prompt_id,style_id,prompt_text\np1,4,a red fox\np2,5,a grey owl\n', '(--map prompt=prompt_text)'],
    [
      'prompt_length,prompt_hash,caption_en\n17,ab12,a red fox\n18,cd34,a grey owl\n',
      '--map prompt=caption_en',
    ],
    ['Prompt name,details\nfox in snow at dawn,a red fox in deep snow at dawn\n', '--map prompt=details'],
    [
      'categoria,descripcion\narte,un zorro\narte,un lobo\ncasa,un gato\ncasa,una mesa\n',
      '--map prompt=descripcion',
    ],
  ])('is not the text: %j', async (text, flag) => {
    const said = await refusedBy(text);
    expect(said).toContain(flag);
  });

  it('is the text if no other column has one', async () => {
    expect(await refusedBy('prompt_name,seed\na red fox in deep snow,1\n')).toContain(
      '--map prompt=prompt_name',
    );
  });

  it('is the voice of a speech, but a number is none', async () => {
    const speech = [input('text', 'string', { required: true }), input('voice', 'string')];
    expect(await refusedBy('text,Voice Name\nHello,Ann\n', speech)).toContain("--map 'voice=Voice Name'");
    expect(await refusedBy('text,Voice ID\nHello,4\n', speech)).not.toContain('--map');
  });

  it('is not one of several that are numbered: no command names one of them alone', async () => {
    expect(await refusedBy('prompt_1,prompt_2\na fox,an owl\n')).toBe('');
  });
});

it('a setting without any value is asked about only where rows beyond the sample may have one', async () => {
  const sheetOf = (rows: number) => `prompt,Steps\n${'a fox,\n'.repeat(rows)}`;
  const questionsOf = async (rows: number) =>
    (await read('a.csv', sheetOf(rows), { unique: false })).guesses.filter((guess) =>
      guess.includes('"Steps"'),
    );
  expect(await questionsOf(150)).toEqual([]);
  expect(await questionsOf(300)).toEqual([
    '? column "Steps" is not sent: the deployment has no such input (--drop Steps)',
  ]);
});
