// Texts that programs of the trade write: read as tables, or refused by their name.

import { describe, expect, it } from 'vitest';
import { formatOf } from '../../../src/sheet/recognized-format.ts';
import { a1111Row } from '../../../src/sheet/trade/a1111.ts';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

const TTS = [input('text', 'string', { required: true }), input('speed', 'float')];

describe('lines of A1111', () => {
  it('are rows of a table with the names of their options', async () => {
    const lines =
      '--prompt "a tin robot" --seed 4\n\na paper boat\n--prompt \'an "old" owl\' --cfg_scale 5\n';
    const { rows, guesses } = await read('prompts.txt', lines);
    expect(rows).toEqual([
      '{"prompt":"a tin robot","seed":4}',
      '{"prompt":"a paper boat"}',
      '{"cfg":5,"prompt":"an \\"old\\" owl"}',
    ]);
    expect(guesses[0]).toBe('lines with options of A1111 are read as a table (--format a1111)');
  });

  it.each([
    ['--prompt a red fox --steps 12', { prompt: 'a red fox', steps: '12' }],
    ['--prompt "a \\"red\\" fox"', { prompt: 'a "red" fox' }],
    ['--prompt "--steps 3" --steps 4', { prompt: '--steps 3', steps: '4' }],
    ['--prompt "it\'s late" --seed -1', { prompt: "it's late", seed: '-1' }],
    ['--prompt "without an end --steps 4', { prompt: 'without an end --steps 4' }],
    ['--tiling --prompt "a"', { tiling: '', prompt: 'a' }],
    ['--prompt "a" --prompt "b"', { prompt: 'b' }],
  ])('%s is %j', (line, cells) => {
    expect(a1111Row(line, 1)).toEqual({ row: 1, cells });
  });

  it('name the line of what is wrong', async () => {
    await expect(read('p.txt', '--prompt "a" --seed 1\n\n--prompt "b" --seed x\n')).rejects.toMatchObject({
      problems: [{ place: { file: 'p.txt', line: 3 } }],
    });
  });

  it('are none if lines only end with options, as prompts of Midjourney do', () => {
    expect(formatOf('mj.txt', Buffer.from('a fox --ar 16:9\nan owl --v 6\n'))).toBe('csv');
    expect(formatOf('cli.txt', Buffer.from('--verbose\n--quiet\n'))).toBe('csv');
  });
});

describe('subtitles', () => {
  const SRT =
    '\ufeff1\r\n00:00:01,000 --> 00:00:03,500\r\nHello\r\nand welcome.\r\n\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\nBread.\r\n';

  it.each(['a.srt', 'a.txt'])('in %s are rows of their texts, whose lines stay lines', async (name) => {
    const { rows, guesses } = await read(name, SRT, {}, { inputTypes: TTS });
    expect(rows).toEqual(['{"text":"Hello\\nand welcome."}', '{"text":"Bread."}']);
    expect(guesses).toEqual([expect.stringContaining('--format subtitles')]);
  });

  it('of WebVTT leave out notes, styles and regions, and need neither numbers nor hours', async () => {
    const vtt =
      'WEBVTT - a film\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnot spoken\n\n00:01.000 --> 00:03.000 align:start\n<i>Hi</i>\n\nintro\n00:00:04.000 --> 00:06.000\nBread.\n';
    expect((await read('a.vtt', vtt, {}, { inputTypes: TTS })).rows).toEqual([
      '{"text":"<i>Hi</i>"}',
      '{"text":"Bread."}',
    ]);
  });

  it('can be read as lines by --format', async () => {
    const lines = { delimiter: 'none', headerRow: 0, columns: ['prompt'] } as const;
    const text = '1\n00:00:01,000 --> 00:00:03,500\nHi\n';
    const { rows } = await read('a.srt', text, lines, { format: 'csv' });
    expect(rows).toHaveLength(3);
  });
});

describe('a text that is no table is refused with its name:', () => {
  it.each([
    ['p.txt', '- prompt: a fox\n  seed: 1\n- prompt: an owl\n', /is YAML/],
    ['p.yaml', 'prompts:\n  - a fox\n', /is YAML/],
    ['s.gsheet', '{"url":"https://docs.google.com/open?id=1","doc_id":"1"}', /a shortcut to a Google sheet/],
    ['d.json', '{"0": "a fox", "60": "an owl"}', /keyframes of Deforum/],
  ])('%s %s', async (name, text, message) => {
    await expect(read(name, text)).rejects.toMatchObject({
      code: 'E104',
      message: expect.stringMatching(message) as string,
    });
  });

  it('a list in Markdown and a list of prompts with colons are none', async () => {
    const { rows } = await read('list.txt', '- portrait: a fox in snow\n- portrait: an owl\n');
    expect(rows).toHaveLength(2);
  });
});
