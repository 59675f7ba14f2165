// Columns that say how a row runs: the shape of a picture as a ratio, and how often a row runs as `x4`.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const SIZED = {
  inputTypes: [input('prompt', 'string', { required: true }), input('width', 'int'), input('height', 'int')],
};

const questionsIn = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

describe('a ratio beside a width and a height', () => {
  it('is sent as a size, which is asked', async () => {
    const { rows, guesses } = await read(
      'a.csv',
      'prompt,ratio\na fox,3:2\na crow,1:1\nan owl,9:16\n',
      {},
      SIZED,
    );
    expect(rows).toEqual([
      '{"height":832,"prompt":"a fox","width":1280}',
      '{"height":1024,"prompt":"a crow","width":1024}',
      '{"height":1344,"prompt":"an owl","width":768}',
    ]);
    expect(questionsIn(guesses)).toEqual([
      '? column "ratio" has two inputs: 3:2 is width 1280 and height 832; to leave column "ratio" out: --drop ratio (--map width=ratio --map height=ratio)',
    ]);
  });

  it.each(['9:05', '9:15', '10:30', '1:5', '0:3', '3:2 and 4:5', '3/2'])(
    'is no cell such as %s',
    async (cell) => {
      const { rows, guesses } = await read('a.csv', `prompt,at\na fox,${cell}\na crow,1:1\n`, {}, SIZED);
      expect(rows).toEqual(['{"prompt":"a fox"}', '{"prompt":"a crow"}']);
      expect(questionsIn(guesses)).toEqual([]);
    },
  );

  it('is the ratio of a deployment that has one', async () => {
    const inputTypes = [...SIZED.inputTypes, input('aspect_ratio', 'string')];
    const { rows } = await read('a.csv', 'prompt,ratio\na fox,3:2\n', {}, { inputTypes });
    expect(rows).toEqual(['{"aspect_ratio":"3:2","prompt":"a fox"}']);
  });
});

describe('a number of runs with a sign', () => {
  it.each([
    ['prompt,count\na fox,x4\n', 'count', 4],
    ['prompt,variants\na fox,2x\na crow,1\n', 'variants', 3],
    ['prompt,variants\na fox,× 2\na crow,2 x\n', 'variants', 4],
  ])('is asked about, and repeats its row if so chosen: %j', async (csv, name, runs) => {
    const answer = await read('a.csv', csv, {}, SIZED);
    expect(questionsIn(answer.guesses)).toEqual([
      `? column "${name}" is not sent: it may say how often each row runs; to run each row that often: --repeat ${name} (--drop ${name})`,
    ]);
    expect((await read('a.csv', csv, { repeat: { by: name } }, SIZED)).rows).toHaveLength(runs);
  });
});

describe('settings beside the prompt', () => {
  const ROWS = [
    '1,a fox in the snow,A fox --ar 16:9 --s 350,size=1024x512; steps=28; sampler=DPM++ 2M; cfg=7.5',
    '2,an owl at night,An owl --ar 4:3 --s 300,size=1200x900; steps=30; cfg=7.0',
    '3,a cat by a fire,A cat --ar 1:1 --s 200,size=512x512; export 64x64; steps=20; cfg=6.0',
  ];
  const SHEET = `id,prompt,mj_command,sd_params\n${ROWS.join('\n')}\n`;
  const inputTypes = [
    input('prompt', 'string', { required: true }),
    input('negative_prompt', 'string'),
    input('width', 'int'),
    input('height', 'int'),
  ];
  const UNSENT =
    '? column "sd_params" is not sent: its cells have several settings, such as size=1024x512; steps=28; sampler=DPM++ 2M; cfg=7.5, which need columns of their own (--drop sd_params)';

  it('are asked about where parameters are read from another column than the one that is sent', async () => {
    const { guesses } = await read('a.csv', SHEET, {}, { inputTypes });
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      '? a ratio of "mj_command", which is not sent itself, is sent as a size: 16:9 is width 1344 and height 768; to send no size: --drop width --drop height (--map width=width --map height=height)',
      UNSENT,
    ]);
  });

  it('are proposed for no text', async () => {
    const { guesses } = await read('a.csv', SHEET, {}, { inputTypes, format: 'csv' });
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([UNSENT]);
  });
});
