// Scripts and subtitles as people write them: names of speakers, dashes, stage directions, and lines between scenes.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const TTS = [input('text', 'string', { required: true }), input('voice', 'string')];
const script = (name: string, text: string, options = {}) => read(name, text, options, { inputTypes: TTS });
const questions = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));
const cue = (number: number, text: string): string =>
  `${number}\n00:00:0${number},000 --> 00:00:0${number},900\n${text}\n`;

describe('names of speakers in a script', () => {
  const TOM = 'TOM: Did you hear that?\nANNA: No.\n- TOM (whispers): Listen: rain!\n';

  it('become a column after one question, and are spoken with --tags send', async () => {
    const { rows, guesses } = await script('a.txt', TOM);
    expect(rows).toEqual([
      '{"text":"Did you hear that?","voice":"TOM"}',
      '{"text":"No.","voice":"ANNA"}',
      '{"text":"Listen: rain!","voice":"TOM"}',
    ]);
    expect(questions(guesses)).toEqual([
      '? each line begins with a name, which becomes the column "voice": TOM, ANNA; to send them with the texts: --tags send (--tags voices)',
    ]);
    const sent = await script('a.txt', TOM, { tags: 'send' });
    expect(sent.rows[1]).toBe('{"text":"ANNA: No."}');
    const told = { delimiter: 'none', headerRow: 0, columns: ['text'], tags: 'voices' } as const;
    expect(await script('a.txt', TOM, told)).toEqual({ rows, guesses: [] });
    expect((await script('a.csv', `text\n${TOM}`, { delimiter: 'none', tags: 'voices' })).rows).toEqual(rows);
  });

  it('are asked about with the lines that have none', async () => {
    const { guesses } = await script('a.txt', `ACT ONE\n${TOM}and thunder\n`);
    expect(questions(guesses)).toEqual([
      expect.stringContaining(
        '3 of 5 lines begin with a name, which becomes the column "voice": TOM, ANNA; lines 1,5 ("ACT ONE", "and thunder") have no name; to send them with the texts: --tags send; to leave those lines out: --skip-rows 1,5 --tags voices',
      ),
    ]);
  });

  it('may be written in other ways', async () => {
    const { rows } = await script('a.txt', '**Tom:** Hi.\n[Speaker 2]: No.\n小明:你好\nZoé: Oui.\n');
    expect(rows).toEqual([
      '{"text":"Hi.","voice":"Tom"}',
      '{"text":"No.","voice":"Speaker 2"}',
      '{"text":"你好","voice":"小明"}',
      '{"text":"Oui.","voice":"Zoé"}',
    ]);
  });

  it.each(['It is late.\nHe said: go.\nRain came early.\n', 'portrait: a fox\nportrait: an owl\n'])(
    'are none in %j',
    async (text) => {
      const { rows, guesses } = await script('a.txt', text);
      expect(rows).toEqual(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.stringify({ text: line })),
      );
      expect(questions(guesses)).toEqual([]);
    },
  );

  it('are kept in prompts for pictures', async () => {
    const { rows } = await read('a.txt', 'Portrait: a fox\nPortrait: an owl\n');
    expect(rows[0]).toBe('{"prompt":"Portrait: a fox"}');
  });
});

describe('a name alone in a line of a script', () => {
  const ROWS = [
    '{"text":"Did you hear that?","voice":"Anna"}',
    '{"text":"No. Go to sleep.","voice":"TOM"}',
    '{"text":"Rain!","voice":"Anna"}',
  ];

  it.each([
    'Anna:\nDid you hear that?\n\nTOM:\nNo.\nGo to sleep.\n\nAnna:\n\nRain!\n',
    '**Anna**:\nDid you hear that?\nTOM:\n(sighs)\nNo. Go to sleep.\nAnna: Rain!\n',
    'Speaker: Anna\nDid you hear that?\nSpeaker: TOM\nNo.\nGo to sleep.\nSpeaker: Anna\nRain!\n',
    'Voice: Anna\nDid you hear that?\n\nVoice: TOM\nNo.\nGo to sleep.\n\nVoice: Anna\nRain!\n',
  ])('speaks the lines below it, which is asked: %j', async (text) => {
    const { rows, guesses } = await script('a.txt', text);
    expect(rows).toEqual(ROWS);
    const skipRows = text.includes('(sighs)') ? { skipRows: [{ from: 4, to: 4 }] } : {};
    const list = { delimiter: 'none', headerRow: 0, columns: ['text'], tags: 'voices' } as const;
    const pasted = await script('a.txt', text, { ...list, unquoted: 'text', ...skipRows });
    expect(pasted.rows).toEqual(ROWS);
    expect(questions(pasted.guesses)).toEqual([]);
    expect(questions(guesses).join()).toMatch(
      /joined to it; to send each line as it stands: --tags send \(--unquoted text\)/,
    );
  });

  it('is what a speaker who is called so says, where no line is below it', async () => {
    const { rows } = await script('a.txt', 'Speaker: Yes.\nAnna: Oh.\nSpeaker: No.\nAnna: Oh!\n');
    expect(rows[0]).toBe('{"text":"Yes.","voice":"Speaker"}');
  });
});

describe('a name in capitals alone above a text', () => {
  const ROWS = ['{"text":"You are late, Paul.","voice":"ANNA"}', '{"text":"It was closed.","voice":"PAUL"}'];
  const list = { delimiter: 'none', headerRow: 0, columns: ['text'], tags: 'voices' } as const;

  it.each([
    ['ANNA\nYou are late,\nPaul.\n\nPAUL\nIt was closed.\n', []],
    ["     ANNA\n  (sighs)\n  You are late, Paul.\n\n     PAUL (CONT'D)\n  It was closed.\n", [2]],
    [
      'INT. HOUSE - NIGHT\n\nANNA\nYou are late, Paul.\n\nCUT TO:\n\nPAUL\nIt was closed.\n\n2.\n',
      [1, 6, 11],
    ],
    ['THE LETTER\n\n  ANNA\nYou are late, Paul.\n\n  PAUL\nIt was closed.\n', [1]],
  ])('is that of its speaker, which is asked: %j', async (text, left) => {
    const { rows, guesses } = await script('a.txt', text);
    expect(rows).toEqual(ROWS);
    expect(questions(guesses).join()).toContain('becomes the column "voice": ANNA, PAUL; to send them with');
    const skipRows = left.map((line) => ({ from: line, to: line }));
    const pasted = await script('a.txt', text, { ...list, unquoted: 'text', skipRows });
    expect(pasted).toEqual({ rows, guesses: pasted.guesses.filter((guess) => !guess.startsWith('?')) });
  });

  it('is none in a list, where words follow it in the next paragraph, and for a picture', async () => {
    const texts = ['HELP', 'NASA', 'A fox.', 'UFO'];
    const { rows, guesses } = await script('a.txt', 'HELP\nNASA\n\nA fox.\n\nUFO\n');
    expect(rows).toEqual(texts.map((text) => JSON.stringify({ text })));
    expect(questions(guesses)).toEqual([]);
    const drawn = await read('a.txt', 'ANNA\na fox\n\nPAUL\nan owl\n');
    expect(drawn.rows[0]).toBe('{"prompt":"ANNA"}');
  });
});

describe('words before a colon', () => {
  it('that end like a clause are sent, which is asked', async () => {
    const text = 'He asked: where?\nShe said: here.\nHe asked: where is here?\nIt was dark.\n';
    const { rows, guesses } = await script('a.txt', text);
    expect(rows).toEqual(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.stringify({ text: line })),
    );
    expect(questions(guesses)).toEqual([
      '? lines begin with words before a colon, which are sent with the texts: He asked, She said; to make them the column "voice", if they are names: --tags voices (--tags send)',
    ]);
    const old = await script('a.txt', text.replaceAll('He asked', 'Old man'), { tags: 'voices' });
    expect(old.rows[0]).toBe('{"text":"where?","voice":"Old man"}');
  });

  it.each(['Monday,Tuesday,Monday', 'Montag,Dienstag,Montag', 'Lundi,Mardi,Lundi'])(
    'that are weekdays are part of the texts: %s',
    async (days) => {
      const lines = days.split(',').map((day, at) => `${day}: We open at ${at}.`);
      const { rows, guesses } = await script('a.txt', lines.join('\n'), { unique: false });
      expect(rows).toEqual(lines.map((line) => JSON.stringify({ text: line })));
      expect(questions(guesses)).toEqual([]);
    },
  );

  it('that are months may be names, and so may weekdays in capitals', async () => {
    const { rows } = await script('a.txt', 'June: Hi.\nFRIDAY: Yes.\nJune: Bye.\nFRIDAY: No.\n');
    expect(rows.slice(0, 2)).toEqual(['{"text":"Hi.","voice":"June"}', '{"text":"Yes.","voice":"FRIDAY"}']);
  });
});

describe('several speakers in subtitles', () => {
  const SRT = `${cue(1, 'ANNA: Hi\nthere.\nTOM: No.')}\n${cue(2, '<i>Rain.</i>')}`;

  it('are a row each, with their names as a column', async () => {
    const { rows, guesses } = await script('a.srt', SRT);
    expect(rows).toEqual([
      String.raw`1 {"text":"Hi\nthere.","voice":"ANNA"}`,
      '1-2 {"text":"No.","voice":"TOM"}',
      '2 {"text":"Rain."}',
    ]);
    expect(questions(guesses)).toEqual([
      '? tags such as <i>, </i> are left out of the texts; names before a text are left out of it and become the column "voice", with a row for each speaker: ANNA, TOM; to keep the names in the texts: --tags strip; to send all as it stands: --tags send (--tags voices)',
    ]);
    const kept = await script('a.srt', SRT, { tags: 'strip' });
    expect(kept.rows[0]).toBe(String.raw`1 {"text":"ANNA: Hi\nthere.\nTOM: No."}`);
  });

  it('are found in a .vtt that writes them without tags, and by one name in capitals', async () => {
    const vtt =
      'WEBVTT\n\n00:01.000 --> 00:02.000\nSpeaker 1: Hello\n\n00:03.000 --> 00:04.000\nSpeaker 2: Yes\n';
    expect((await script('a.vtt', vtt)).rows).toEqual([
      '1 {"text":"Hello","voice":"Speaker 1"}',
      '2 {"text":"Yes","voice":"Speaker 2"}',
    ]);
    const { rows } = await script('a.srt', `${cue(1, 'MAN: Hey!')}\n${cue(2, 'a')}\n${cue(3, 'b')}`);
    expect(rows[0]).toBe('1 {"text":"Hey!","voice":"MAN"}');
  });

  it('with a dash each are asked about', async () => {
    const dashed = `${cue(1, '- Who is it?\n-Me.')}\n${cue(2, '-5 degrees, -> cold')}`;
    const { rows, guesses } = await script('a.srt', dashed);
    expect(rows).toEqual([String.raw`1 {"text":"Who is it?\nMe."}`, '2 {"text":"-5 degrees, -> cold"}']);
    expect(questions(guesses)).toEqual([
      '? in cue 1, a dash begins the line of each speaker, as in "- Who is it?", and is left out; to make a row of each voice: --tags voices; to send them: --tags send (--tags strip)',
    ]);
    const each = await script('a.srt', dashed, { tags: 'voices' });
    expect(each.rows.slice(0, 2)).toEqual(['1 {"text":"Who is it?"}', '1-2 {"text":"Me."}']);
    const sent = await script('a.srt', dashed, { tags: 'send' });
    expect(sent.rows[0]).toBe(String.raw`1 {"text":"- Who is it?\n-Me."}`);
  });
});

describe('lines that are no texts', () => {
  const LINES = 'One.\n[pause]\n(laughs)\nTwo.\n* * *\nThree.\n###\nFour.\n♪\nANNA:\nFive.\n(Rain.) Six.\n';
  const texts = ['One.', 'Two.', 'Three.', 'Four.', 'Five.', '(Rain.) Six.'];
  const rowsOf = (spoken: readonly string[]) => spoken.map((text) => JSON.stringify({ text }));

  it('are asked about with their numbers and left out, or sent', async () => {
    const { rows, guesses } = await script('a.txt', LINES);
    expect(rows).toEqual(rowsOf(texts));
    expect(questions(guesses)).toEqual([
      '? 6 lines are no texts, and are left out: lines 2-3,5,7,9-10 ("[pause]", "(laughs)", "* * *", "###", "♪", …); to send all lines: --skip-rows none (--skip-rows 2-3,5,7,9-10)',
    ]);
    const sent = await script('a.txt', LINES, { skipRows: [] });
    expect(sent.rows[1]).toBe('{"text":"[pause]"}');
  });

  it('are said to be sent where the user leaves out others', async () => {
    const { rows, guesses } = await script('a.txt', LINES, { skipRows: [{ from: 1, to: 1 }] });
    expect(rows[0]).toBe('{"text":"[pause]"}');
    expect(guesses.join()).toContain('6 lines are no texts, and are sent: lines 2-3,5,7,9-10');
  });

  it('are texts where most lines are in brackets', async () => {
    const { rows, guesses } = await script('a.txt', '(a)\n(b)\nc\n');
    expect(rows).toEqual(rowsOf(['(a)', '(b)', 'c']));
    expect(questions(guesses)).toEqual([]);
  });

  it('are left out of subtitles with their cues', async () => {
    const srt = `${cue(1, 'One.')}\n${cue(2, '<i>[Applaus]</i>')}\n${cue(3, 'Three.\n(sighs)')}`;
    const { rows, guesses } = await script('a.srt', srt);
    expect(rows).toEqual(['1 {"text":"One."}', String.raw`3 {"text":"Three.\n(sighs)"}`]);
    expect(guesses).toContain(
      '? line 6 ("[Applaus]") is not a text, and is left out; to send all lines: --skip-rows none (--skip-rows 6)',
    );
    const sent = await script('a.srt', srt, { skipRows: [], tags: 'strip' });
    expect(sent.rows[1]).toBe('2 {"text":"[Applaus]"}');
    const looked = await script('a.srt', srt, { skipRows: [{ from: 2, to: 2 }], tags: 'strip' });
    expect(looked.guesses.join()).toContain('line 6 ("[Applaus]") is not a text, and is sent');
  });

  it('and lines at a wrong place are one question', async () => {
    const { rows, guesses } = await script('a.srt', `A title\n\n${cue(1, 'One.')}\n${cue(2, '(sighs)')}`);
    expect(rows).toEqual(['line 1 {"text":"A title"}', '1 {"text":"One."}']);
    expect(questions(guesses)).toEqual([
      '? line 1 ("A title") is read as a text of its own, although there is no cue above; line 8 ("(sighs)") is not a text, and is left out; to leave out these lines: --skip-rows 1,8; to send all lines: --skip-rows none (--skip-rows 8)',
    ]);
  });
});
