// Entities of HTML in the texts of a table: they are sent as the signs that they stand for, unless the column is HTML.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const TEXTS = {
  inputTypes: [input('text', 'string', { required: true }), input('url', 'string'), input('image', 'image')],
};

const textsOf = async (csv: string, options: Parameters<typeof read>[2] = {}, file = 'a.csv') => {
  const { rows, guesses } = await read(file, csv, options, TEXTS);
  return {
    texts: rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { text: string }).text),
    questions: guesses.filter((guess) => guess.includes('entities')),
  };
};

describe('entities in the texts of a table', () => {
  const TABLE =
    'text\nFish &amp; chips\nTea &#8211; two&nbsp;cups &ndash; 3 &lt; 4&hellip;\n"""A"" &copy; &unknown; & b;"\n';

  it('are asked about, and sent as the signs that they stand for', async () => {
    expect(await textsOf(TABLE)).toEqual({
      texts: ['Fish & chips', 'Tea – two cups – 3 < 4…', '"A" © &unknown; & b;'],
      questions: [
        '? entities such as &amp;, &#8211;, &nbsp; in "text" are read as the signs that they stand for; to send them: --tags send (--tags strip)',
      ],
    });
  });

  it('stay as they are written with the other answer', async () => {
    const { texts, questions } = await textsOf(TABLE, { tags: 'send' });
    expect(texts.slice(0, 1)).toEqual(['Fish &amp; chips']);
    expect(questions).toEqual([]);
  });

  it('are read in a template too', async () => {
    const { texts } = await textsOf('Title,n\nFish &amp; chips,1\n', { set: { text: 'A photo of {Title}' } });
    expect(texts).toEqual(['A photo of Fish & chips']);
  });

  it.each([
    ['text\n<p>Fish &amp; chips</p>\nTea &amp; milk\n', ['<p>Fish &amp; chips</p>', 'Tea &amp; milk']],
    ['text\n<speak>Tom &amp; Jerry</speak>\n', ['<speak>Tom &amp; Jerry</speak>']],
    ['text\nhttps://quay.example/?a=1&amp;b=2\n', ['https://quay.example/?a=1&amp;b=2']],
    ['text,note\nFish & chips,Tea &amp; milk\n', ['Fish & chips']],
  ])('are no question in HTML, in SSML, in addresses and in data: %j', async (csv, texts) => {
    expect(await textsOf(csv)).toEqual({ texts, questions: [] });
  });

  it('are asked about in a list, beside its bullets too, and in JSON', async () => {
    const sentence = /^\? entities such as &amp; in "text" are read as the signs .* \(--tags strip\)$/;
    for (const [file, text] of [
      ['a.txt', 'Fish &amp; chips for all.\nTea and milk for two.\n'],
      ['a.json', '[{"text":"Fish &amp; chips for all."},{"text":"Tea and milk for two."}]'],
      ['a.jsonl', '{"text":"Fish &amp; chips for all."}\n{"text":"Tea and milk for two."}\n'],
    ] as const) {
      const format = file === 'a.txt' ? {} : { format: file.slice(2) as 'json' };
      const { texts, questions } = await textsOf(text, format, file);
      expect([texts, questions]).toEqual([
        ['Fish & chips for all.', 'Tea and milk for two.'],
        [expect.stringMatching(sentence)],
      ]);
      expect((await textsOf(text, { ...format, tags: 'send' }, file)).texts[0]).toContain('&amp;');
    }
    const list = await textsOf('- Fish &amp; chips.\n- Tea.\n', {}, 'a.txt');
    expect(list.texts).toEqual(['Fish & chips.', 'Tea.']);
    expect(list.questions).toEqual([expect.stringMatching(/^entities such as &amp; in "text" are read as/)]);
  });

  it('of each name are read in subtitles', async () => {
    const vtt = 'WEBVTT\n\n00:01.000 --> 00:02.000\nTea &ndash; and more&hellip; &amp; milk\n';
    expect((await textsOf(vtt, {}, 'a.vtt')).texts).toEqual(['Tea – and more… & milk']);
  });
});
