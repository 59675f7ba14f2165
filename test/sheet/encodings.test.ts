// Sheets and subtitles in the encodings of other languages: the cells that are sent are those that were written, or their owner is
// shown how each encoding reads them.

import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../src/errors/error.ts';
import { encoded } from './encoded.ts';
import { input } from './laying.ts';
import { read } from './people/reading.ts';

const TTS = [input('text', 'string', { required: true })];

const TEXTS: readonly (readonly [label: string, ...texts: string[]])[] = [
  ['gbk', '一只红色的狐狸在雪地里，8k', '窗台上的黑猫', 'iPhone手机壳，复古风格'],
  ['big5', '一隻紅色的狐狸在雪地裡', '窗台上的黑貓，LED燈', '海邊燈塔'],
  ['euc-kr', '눈 속의 붉은 여우', '창가에 앉은 검은 고양이', '해질녘 바닷가 등대'],
  ['shift_jis', '雪の中の赤い狐', '窓辺の黒猫', '古い森の中の小屋'],
  ['windows-1251', 'Красная лиса в снегу', 'Чёрный кот', 'Маяк на закате'],
  ['koi8-r', 'Красная лиса в снегу', 'Чёрный кот', 'Маяк на закате'],
  ['windows-1253', 'Κόκκινη αλεπού στο χιόνι', 'Μαύρη γάτα', 'Φάρος στην ακτή'],
  ['windows-1250', 'Czerwony lis w śniegu, żółty', 'Czarny kot, zmęczony', 'Świątynia na szczycie góry'],
  ['windows-1250', 'Červená liška ve sněhu', 'Černá kočka na okně', 'Deštivá ulice v noci'],
  ['windows-1252', 'Ein roter Fuchs, größer', 'Schwarze Katze, müde', 'Leuchtturm an der Küste'],
  ['windows-1252', 'Chat noir à la fenêtre', 'Forêt enneigée, où est Zoé ?', 'Rivière'],
  ['windows-1252', 'Un zorro, montaña nevada', '¿Qué bonito?', 'Señora'],
  ['windows-1252', 'A café – “golden hour”', 'The fisherman’s hat…', '£5 label, 30°'],
];

describe('a sheet that is not UTF-8', () => {
  it.each(TEXTS)('in %s is sent as it was written: %s', async (label, ...texts) => {
    const sheet = encoded(`id,prompt\n${texts.map((text, at) => `r${at},"${text}"\n`).join('')}`, label);
    const { rows, guesses } = await read('a.csv', sheet);
    expect(rows).toEqual(texts.map((prompt, at) => `r${at} ${JSON.stringify({ prompt })}`));
    expect(guesses[0]).toBe(`encoding ${label} (--encoding ${label})`);
    const question = guesses.find((guess) => guess.startsWith('? the letters are right: '));
    expect(question).toContain(`(--encoding ${label})`);
  });

  it.each(TEXTS)('with subtitles in %s is spoken as it was written: %s', async (label, ...texts) => {
    const cues = texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},500\n${text}\n`);
    const { rows } = await read('a.srt', encoded(cues.join('\n'), label), {}, { inputTypes: TTS });
    expect(rows).toEqual(texts.map((text, at) => `${at + 1} ${JSON.stringify({ text })}`));
  });

  it.each([
    [
      'gbk',
      '冰川和极光',
      'if it reads "冰川和极光": --encoding gbk; if it reads "梨捶睿憤嫖": --encoding big5',
    ],
    ['euc-kr', '검은 고양이', 'if it reads "검은 고양이": --encoding euc-kr'],
    [
      'windows-1252',
      'Robe, arrière-plan blanc',
      'if it reads "arrière-plan blanc": --encoding windows-1252; if it reads "arričre-plan blanc": --encoding windows-1250',
    ],
  ])('in %s or another encoding is refused without a ready command: %s', async (label, text, hint) => {
    const refused = read('a.csv', encoded(`prompt\n"${text}"\n`, label));
    const error = (await refused.catch((refusal: unknown) => refusal)) as RunsheetError;
    expect(error).toMatchObject({ code: 'E102', hint: expect.stringContaining(hint) as string });
    expect(error.correction).toBeUndefined();
  });

  it('keeps names of several western languages', async () => {
    const texts = ['Müller and Señora Núñez', 'naïve façade, Björk', 'Smørrebrød, piñata', 'Åsa, São Paulo'];
    const { rows } = await read(
      'a.csv',
      encoded(`prompt\n${texts.map((text) => `"${text}"\n`).join('')}`, 'windows-1252'),
    );
    expect(rows).toEqual(texts.map((prompt) => JSON.stringify({ prompt })));
  });

  it('but for one line is refused by the number of this line, and the rest is not read anew', async () => {
    const bytes = Buffer.concat([Buffer.from('prompt\nÄpfel\n日本\n'), encoded('größer\n', 'windows-1252')]);
    await expect(read('a.csv', bytes)).rejects.toMatchObject({
      code: 'E102',
      message: 'line 4 of a.csv is not UTF-8, although most lines are',
    });
  });
});
