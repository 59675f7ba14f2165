// Texts that programs of the trade write: read as tables, or refused by their name.

import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { formatOf } from '../../../src/sheet/recognized-format.ts';
import { a1111Row } from '../../../src/sheet/trade/a1111.ts';
import { InfoBlocks } from '../../../src/sheet/trade/infotext.ts';
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

  it('are none if lines are options of another program', () => {
    expect(formatOf('cli.txt', Buffer.from('--verbose\n--quiet\n'))).toBe('csv');
  });
});

describe('PNG info of A1111', () => {
  const [SETTINGS, SIZE] = ['Steps: 28, Sampler: Euler a, CFG scale: 7, Seed: 5', 'Size: 832x1216'];

  it('is a row for each block of prompt, negative prompt and settings', async () => {
    const blocks = `a fox,\nin ink\nNegative prompt: photo\n${SETTINGS}, ${SIZE}\n\na crow\n${SETTINGS}\n`;
    const { rows } = await read('parameters.txt', blocks);
    expect(rows).toEqual([
      '{"cfg":7,"prompt":"a fox,\\nin ink","seed":5}',
      '{"cfg":7,"prompt":"a crow","seed":5}',
    ]);
  });

  it('has settings whose texts may hold commas and colons', () => {
    const [row] = [...new InfoBlocks().take(`${SETTINGS}, ${SIZE}, Lora hashes: "a: 1, b: 2"`, 1)];
    expect(row?.cells).toMatchObject({
      sampler_name: 'Euler a',
      width: '832',
      height: '1216',
      'Lora hashes': 'a: 1, b: 2',
    });
  });

  it('is refused where a block has no settings', async () => {
    await expect(read('p.txt', `a fox\n${SETTINGS}\n\na crow\n`)).rejects.toMatchObject({
      problems: [{ place: { file: 'p.txt', line: 4 } }],
    });
  });
});

describe('subtitles', () => {
  const SRT =
    '\ufeff1\r\n00:00:01,000 --> 00:00:03,500\r\nHello\r\nand welcome.\r\n\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\nBread.\r\n';

  it.each(['a.srt', 'a.txt'])('in %s are rows of their texts, whose lines stay lines', async (name) => {
    const { rows, guesses } = await read(name, SRT, {}, { inputTypes: TTS });
    expect(rows).toEqual(['1 {"text":"Hello\\nand welcome."}', '2 {"text":"Bread."}']);
    expect(guesses).toEqual([
      expect.stringContaining('--format subtitles'),
      'column "index" names the rows (--key index)',
    ]);
  });

  it('of WebVTT leave out notes, styles and regions, and need neither numbers nor hours', async () => {
    const vtt =
      'WEBVTT - a film\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnot spoken\n\n00:01.000 --> 00:03.000 align:start\n<i>Hi</i>\n\nintro\n00:00:04.000 --> 00:06.000\nBread.\n';
    expect((await read('a.vtt', vtt, {}, { inputTypes: TTS })).rows).toEqual([
      '1 {"text":"Hi"}',
      'intro {"text":"Bread."}',
    ]);
  });

  it('can be read as lines by --format', async () => {
    const lines = { delimiter: 'none', headerRow: 0, columns: ['prompt'] } as const;
    const text = '1\n00:00:01,000 --> 00:00:03,500\nHi\n';
    const { rows } = await read('a.srt', text, lines, { format: 'csv' });
    expect(rows).toHaveLength(3);
  });
});

describe('subtitles in another encoding', () => {
  const text = '1\n00:00:01,000 --> 00:00:03,500\nOù est Zoé?\n\n2\n00:00:04,000 --> 00:00:06,000\nIci.\n';
  const le = Buffer.from(text, 'utf16le');
  const be = Buffer.from(le).swap16();
  const rows = ['1 {"text":"Où est Zoé?"}', '2 {"text":"Ici."}'];

  it.each([
    ['UTF-16LE', le, 'utf-16le'],
    ['UTF-16BE', be, 'utf-16be'],
    ['UTF-16LE with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), le]), 'utf-16le'],
    ['UTF-16BE with its mark', Buffer.concat([Buffer.from([0xfe, 0xff]), be]), 'utf-16be'],
  ])('%s are recognised and read, also in a .txt', async (_, bytes, label) => {
    for (const name of ['a.srt', 'a.txt']) {
      const sheet = await read(name, bytes, {}, { inputTypes: TTS });
      expect(sheet.rows).toEqual(rows);
      expect(sheet.guesses[0]).toBe(`encoding ${label} (--encoding ${label})`);
    }
  });

  it('windows-1252 are asked about with their words', async () => {
    const sheet = await read('a.srt', Buffer.from(text, 'latin1'), {}, { inputTypes: TTS });
    expect(sheet.rows).toEqual(rows);
    expect(sheet.guesses).toContain('? the letters are right: Où, Zoé (--encoding windows-1252)');
  });

  it('Shift-JIS are read by --encoding, with and without --format', async () => {
    const bytes = Buffer.from([...Buffer.from('1\n00:01,000 --> 00:02,000\n'), 0x82, 0xa0, 0x81, 0x42, 10]);
    for (const format of [undefined, 'subtitles'] as const) {
      const reading = { inputTypes: TTS, ...(format && { format }) };
      expect((await read('a.srt', bytes, { encoding: 'shift_jis' }, reading)).rows).toEqual([
        '1 {"text":"あ。"}',
      ]);
    }
  });
});

describe('a line of subtitles at a wrong place', () => {
  const cue = (nth: number, ...lines: readonly string[]): string =>
    [nth, `00:00:0${nth},000 --> 00:00:0${nth},500`, ...lines, ''].join('\n');

  it.each([
    [
      'behind an empty line is read with its cue',
      `${cue(1, 'One.')}\nMore.\n\n${cue(2, 'Two.')}`,
      ['1 {"text":"One.\\nMore."}', '2 {"text":"Two."}'],
      'line 5 ("More.") is read with the cue above, although an empty line is between; to leave out these lines: --skip-rows 5',
    ],
    [
      'that is a number without an empty line above is not spoken',
      `${cue(1, 'One.')}${cue(2, 'Two.')}`,
      ['1 {"text":"One."}', '2 {"text":"Two."}'],
      'line 4 ("2") is read as the number of a cue, although there is no empty line above',
    ],
    [
      'above the first cue is a text of its own',
      `A title\n\n${cue(1, 'One.')}`,
      ['line 1 {"text":"A title"}', '1 {"text":"One."}'],
      'line 1 ("A title") is read as a text of its own, although there is no cue above; to leave out these lines: --skip-rows 1',
    ],
    [
      'that was meant to have times begins a cue',
      `${cue(1, 'One.')}\n2\n00:00:11,000 -> 00:00:12,000\nTwo.\n\nTypo.000 --> 00:00:14,000\nThree.\n`,
      ['1 {"text":"One."}', '2 {"text":"Two."}', '3 {"text":"Three."}'],
      'lines 6,9 ("00:00:11,000 -> 00:00:12,000") are read as the times of a cue; to leave out these lines: --skip-rows 6,9',
    ],
  ])('%s, and asked about', async (_, text, rows, question) => {
    const sheet = await read('a.srt', text, {}, { inputTypes: TTS });
    expect(sheet.rows).toEqual(rows);
    expect(sheet.guesses).toContain(`? ${question} (--skip-rows none)`);
    const stated = await read('a.srt', text, { skipRows: [] }, { inputTypes: TTS });
    expect(stated.rows).toEqual(rows);
    expect(stated.guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });

  it('can be left out, with its cue if it has the times', async () => {
    const text = `${cue(1, 'One.')}\nMore.\n\n2\n00:00:11,000 -> 00:00:12,000\nTwo.\n\n${cue(3, 'Three.')}`;
    const skipRows = [
      { from: 5, to: 5 },
      { from: 8, to: 8 },
    ];
    const { rows } = await read('a.srt', text, { skipRows }, { inputTypes: TTS });
    expect(rows).toEqual(['1 {"text":"One."}', '3 {"text":"Three."}']);
  });

  it('is none if empty lines stand everywhere', async () => {
    const text = '1\n\n00:00:01,000 --> 00:00:02,000\n\nOne.\n\n2\n\n00:00:03,000 --> 00:00:04,000\n\nTwo.\n';
    expect((await read('a.srt', text, {}, { inputTypes: TTS })).rows).toEqual([
      '1 {"text":"One."}',
      '2 {"text":"Two."}',
    ]);
  });
});

describe('tags of subtitles', () => {
  const vtt =
    'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Zoé>Hello <00:01.500>there, 2 < 3.</v>\n\n00:03.000 --> 00:04.000\n{\\an8}<v.loud Hans><c.red>Yes.</c>\n';
  const inputTypes = [...TTS, input('voice', 'string')];

  it('are left out after a question, and voices become a column', async () => {
    const { rows, guesses } = await read('a.vtt', vtt, {}, { inputTypes });
    expect(rows).toEqual([
      '1 {"text":"Hello there, 2 < 3.","voice":"Zoé"}',
      '2 {"text":"Yes.","voice":"Hans"}',
    ]);
    expect(guesses).toContain(
      '? tags such as <v Zoé>, <00:01.500>, </v>, {\\an8}, <v.loud Hans> are left out of the texts; the voices are the column "voice": Zoé, Hans; to send them: --tags send (--tags strip)',
    );
  });

  it('are sent with --tags send', async () => {
    const { rows } = await read('a.vtt', vtt, { tags: 'send' }, { inputTypes });
    expect(rows[1]).toBe('2 {"text":"{\\\\an8}<v.loud Hans><c.red>Yes.</c>"}');
  });
});

describe('signs and voices in subtitles', () => {
  const inputTypes = [...TTS, input('voice', 'string')];
  const vtt =
    'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Zoé>Tom &amp; I&nbsp;know: 2 &lt; 3, &#8364;5. <v Hans>Really?\n\n00:03.000 --> 00:04.000\nFish &amp; chips, &lt;i&gt;hot&lt;/i&gt;.\n';

  it('are read as what they stand for, and two voices in one text are asked about', async () => {
    const { rows, guesses } = await read('a.vtt', vtt, {}, { inputTypes });
    expect(rows).toEqual([
      '1 {"text":"Tom & I know: 2 < 3, €5. Really?","voice":"Zoé, Hans"}',
      '2 {"text":"Fish & chips, <i>hot</i>."}',
    ]);
    expect(guesses).toContain(
      '? tags such as <v Zoé>, <v Hans> are left out of the texts; the voices are the column "voice": Zoé, Hans; entities such as &amp;, &nbsp;, &lt;, &#8364;, &gt; are read as the signs that they stand for; in cue 1, Zoé, Hans speak in one text; to make a row of each voice: --tags voices; to send them: --tags send (--tags strip)',
    );
  });

  it('become a row of each voice with --tags voices, and stay with --tags send', async () => {
    const split = await read('a.vtt', vtt, { tags: 'voices' }, { inputTypes });
    expect(split.rows).toEqual([
      '1 {"text":"Tom & I know: 2 < 3, €5.","voice":"Zoé"}',
      '1-2 {"text":"Really?","voice":"Hans"}',
      '2 {"text":"Fish & chips, <i>hot</i>."}',
    ]);
    const sent = await read('a.vtt', vtt, { tags: 'send' }, { inputTypes });
    expect(sent.rows[1]).toBe('2 {"text":"Fish &amp; chips, &lt;i&gt;hot&lt;/i&gt;."}');
  });

  it('are asked about in a cue without a tag', async () => {
    const srt = '1\n00:00:01,000 --> 00:00:02,000\nFish &amp; chips.\n';
    const { rows, guesses } = await read('a.srt', srt, {}, { inputTypes });
    expect(rows).toEqual(['1 {"text":"Fish & chips."}']);
    expect(guesses).toContain(
      '? entities such as &amp; are read as the signs that they stand for; to send them: --tags send (--tags strip)',
    );
  });
});

describe('lists of voices', () => {
  const inputTypes = [...TTS, input('voice', 'string')];
  const reading = { inputTypes };
  const rows = { delimiter: '|', headerRow: 0 } as const;

  it('with bars in each line of a .txt are rows or texts, which only their owner knows', async () => {
    const vits = 'wavs/a.wav|The kettle hums.|0\nwavs/b.wav|Rain came early.|0\n';
    await expect(read('train.txt', vits, {}, reading)).rejects.toMatchObject({
      code: 'E104',
      hint: "if it is a row: --delimiter '|' --header-row none; if each line is one text: --delimiter none --columns text --header-row none",
    });
    const asRows = await read('train.txt', vits, { ...rows, columns: ['A', 'text'] }, reading);
    expect(asRows.rows).toEqual(['{"text":"The kettle hums."}', '{"text":"Rain came early."}']);
    expect(asRows.guesses).toEqual([
      '? column "A" is not sent, such as "wavs/a.wav" (--drop A)',
      '? column "column C" is not sent, such as "0"; to send it: --map \'speed=column C\' (--drop \'column C\')',
    ]);
  });

  it.each([
    ['Printing, in 1455.', 'Printing, in fourteen fifty-five.'],
    ['Printing, in fourteen fifty-five.', 'Printing, in 1455.'],
  ])('with a text and its other form are proposed with the first: %s', async (first, second) => {
    const text = `LJ-01|${first}|${second}\nLJ-02|It was new.|It was new.\n`;
    const error = (await read('a.csv', text, {}, reading).catch(
      (refusal: unknown) => refusal,
    )) as RunsheetError;
    expect(error).toMatchObject({
      code: 'E104',
      correction: {
        add: [
          ['--header-row', 'none'],
          ['--columns', 'id,text'],
        ],
      },
    });
    const { guesses } = await read('a.csv', text, { ...rows, columns: ['id', 'text'] }, reading);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
      `? column "column C" is not sent, such as "${second}"; to send it instead: --map 'text=column C' --drop text (--drop 'column C')`,
    ]);
  });

  it('with a third column of voices are asked about it', async () => {
    const text = 'a_1|Hello there.|anna\na_2|Who is it?|hans\n';
    const { guesses } = await read('a.csv', text, { ...rows, columns: ['id', 'text'] }, reading);
    expect(guesses).toContain(
      '? column "column C" is not sent, such as "anna"; to send it: --map \'voice=column C\' (--drop \'column C\')',
    );
  });

  it('lose no quotes around a text while quotes within another are letters', async () => {
    const text = 'id|text\n1|"Why?"\n2|He said "no" to it.\n';
    const bars = await read('a.csv', text, {}, reading);
    expect(bars.rows).toEqual(['1 {"text":"\\"Why?\\""}', '2 {"text":"He said \\"no\\" to it."}']);
    expect(bars.guesses).toContain(
      '? quotes within a field are letters, such as He said "no" to it., and so are those around Why?; if the latter enclose cells: --quote loose (--quote none)',
    );
    const commas = await read('a.csv', text.replaceAll('|', ','), {}, reading);
    expect(commas.rows[0]).toBe('1 {"text":"Why?"}');
    expect(commas.guesses).toContain(
      '? quotes within a field are letters, such as He said "no" to it., but those around Why? enclose it; if all are letters: --quote none (--quote loose)',
    );
    const needed = await read('a.csv', `${text}3|"a|b"\n`, {}, reading);
    expect(needed.guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });
});

const ASS =
  '[Script Info]\nTitle: x\n\n[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:01.00,0:00:02.00,Default,Hello.\n';
const FODS =
  '<?xml version="1.0" encoding="UTF-8"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><office:body/></office:document>';
const zipped = (name: string, content: string): string =>
  `PK\u0003\u0004${'\0'.repeat(26)}${name}${content}PK\u0003\u0004`;

describe('a text that is no table is refused with its name:', () => {
  it.each([
    ['a.ass', ASS, /is subtitles of SubStation Alpha/],
    ['a.ssa', ASS, /is subtitles of SubStation Alpha/],
    ['a.txt', ASS, /is subtitles of SubStation Alpha/],
    ['a.ass', `\ufeff${ASS}`, /is subtitles of SubStation Alpha/],
    ['a.fods', FODS, /is a flat OpenDocument sheet/],
    ['a.xml', FODS, /is a flat OpenDocument sheet/],
    ['a.odt', zipped('mimetype', 'application/vnd.oasis.opendocument.text'), /is an OpenDocument text/],
    ['a.docx', zipped('word/document.xml', ''), /is a Word document/],
    ['a.xlsx', zipped('word/document.xml', ''), /is a Word document/],
    ['a.rtf', '{\\rtf1\\ansi a fox}', /is a formatted text/],
    ['a.pdf', '%PDF-1.7\n', /is a PDF/],
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

describe('subtitles for the hard of hearing', () => {
  const SPEECH = [input('text', 'string', { required: true }), input('voice', 'string')];
  const cues = (...texts: readonly string[]): string =>
    texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at + 1},000\n${text}\n`).join('\n');

  it('leave out music and credits, and a remark or a sentence in two cues changes no voice', async () => {
    const text = cues(
      'MANN: Du bist spät.',
      '<i>Erzählerin: Es war der letzte Sommer,</i>',
      '<i>in dem das Boot noch schwamm.</i>',
      '♪ Leise Musik ♪',
      'MANN (leise): Vergiss es.',
      'Untertitel: Hafenfilm\nwww.hafenfilm.example',
    );
    const { rows, guesses } = await read('a.srt', text, { format: 'subtitles' }, { inputTypes: SPEECH });
    expect(rows).toEqual([
      '1 {"text":"Du bist spät.","voice":"MANN"}',
      '2 {"text":"Es war der letzte Sommer,","voice":"Erzählerin"}',
      '3 {"text":"in dem das Boot noch schwamm.","voice":"Erzählerin"}',
      '5 {"text":"Vergiss es.","voice":"MANN"}',
    ]);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      expect.stringContaining('2 lines are no texts, and are left out: lines 14,22 ("♪ Leise Musik ♪"'),
      expect.stringContaining('become the column "voice"'),
    ]);
  });
});

it('a book of Project Gutenberg is read between its frame, which is asked', async () => {
  const text =
    'The eBook of The Inn\n\nTitle: The Inn\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE INN ***\n\nIt was late.\n\nThe snow had come.\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE INN ***\n\nThis licence is long.\n';
  const { rows, guesses } = await read('book.txt', text, {}, { inputTypes: TTS });
  expect(rows).toEqual(['{"text":"It was late."}', '{"text":"The snow had come."}']);
  expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
    expect.stringMatching(/^\? 5 lines are no texts, and are left out: lines 1,3,5,11,13 /),
  ]);
});
