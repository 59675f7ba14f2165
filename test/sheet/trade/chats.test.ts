// Chats and transcripts, whose messages are texts and whose names are voices.

import { describe, expect, it } from 'vitest';
import { formatOf } from '../../../src/sheet/recognized-format.ts';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

const TTS = [input('text', 'string', { required: true }), input('voice', 'string')];

const WHATSAPP = [
  '[03.11.25, 21:04:12] Ideas: \u200eMessages are end-to-end encrypted.',
  '[03.11.25, 21:04:12] Jo: a lighthouse, gouache',
  '[03.11.25, 21:08:02] Jo: \u200eimage omitted',
  '[04.11.25, 08:31:40] Jo: a market at dawn,',
  'muted colours',
].join('\n');

const OTTER = `Team call\n\nNadia  0:03\nIt opens with the bell.\n\nSpeaker 2  0:14\nRight.\n\nTranscribed by https://otter.ai\n`;

describe('a chat', () => {
  it.each([
    ['WhatsApp on iOS', WHATSAPP],
    ['WhatsApp on Android', '11/3/25, 9:04 PM - Jo: a fox\n11/3/25, 9:08\u202fPM - Mia: an owl\n'],
    ['Signal', '[2025-11-03 21:04] Jo: a fox\n[2025-11-03 21:05] Mia: an owl\n'],
    ['Telegram', 'Jo, [03.11.25 21:04]\na fox\n\nMia, [03.11.25 21:05]\nan owl\n'],
    ['Slack', 'Jo  9:04 PM\na fox\nMia  9:05 PM\nan owl\n'],
    ['Zoom', '21:04:12 From Jo to Everyone:\n\ta fox\n21:05:12 From Mia to Everyone:\n\tan owl\n'],
    ['Otter', OTTER],
    ['Discord', 'Jo — 11/03/2025 9:04 PM\na fox\nMia — 11/03/2025 9:05 PM\nan owl\n'],
    ['Discord today', 'Jo — Today at 9:04 PM\na fox\nMia — Yesterday at 9:05 PM\nan owl\nand a crow\n'],
    ['Discord without a date', 'Jo — 9:04 PM\na fox\nMia — 9:05 PM\nan owl\n'],
    ['Discord in German', 'Jo — Heute um 21:04 Uhr\nein Fuchs\nMia — 03.11.2025 21:05\neine Eule\n'],
    ['Discord in French', 'Jo — Aujourd’hui à 21:04\nun renard\nMia — Hier à 21:05\nun hibou\n'],
    ['Discord with programs', 'Jo — 11/03/2025 9:04 PM\na fox\nPaint\nAPP\n — 11/03/2025 9:05 PM\nan owl\n'],
    ['Discord with names above', 'Jo\n — 11/03/2025 9:04 PM\na fox\nMia\n — 11/03/2025 9:05 PM\nan owl\n'],
    ['Discord with pictures', 'Jo — 11/03/2025 9:04 PM\nMia — 11/03/2025 9:05 PM\nan owl\n'],
  ])('of %s is recognised', (_, text) => {
    expect(formatOf('chat.txt', Buffer.from(text))).toBe('chat');
  });

  it.each([
    'a clock that shows 10:10\na fox at 9:15\n',
    'a station at  10:10\nits hall at  11:10\n',
    '[00:12.50] Hello\n[00:14.00] and welcome\n',
    '10:30 a fox\n10:45 an owl\n',
    'a fox\nat 9:15 PM\nan owl\n\na crow\n',
    'Doors — 19:00\nConcert — 20:00\nBar — 23:00\nall night\n',
    'a fox — 9:15\nan owl — 10:15\n',
    'a market — 03/14/2025\na harbour — 03/15/2025\n',
  ])('is no list such as %j', (text) => {
    expect(formatOf('list.txt', Buffer.from(text))).toBe('csv');
  });

  it('gives a row for each message, and its notices are left out and asked about', async () => {
    const { rows, guesses } = await read('chat.txt', WHATSAPP);
    expect(rows).toEqual([
      '{"prompt":"a lighthouse, gouache"}',
      '{"prompt":"a market at dawn,\\nmuted colours"}',
    ]);
    const [, guess] = guesses;
    expect(guess).toContain('? each message is a text, without its name and time');
    expect(guess).toContain('Jo: "a lighthouse, gouache"');
    expect(guess).toContain(
      'lines 1,3 ("Messages are end-to-end encrypted.", "image omitted") are no messages',
    );
  });

  it('is sent with its notices, or line by line, by the printed answers', async () => {
    const sent = await read('chat.txt', WHATSAPP, { columns: ['prompt'], totals: 'send' });
    expect(sent.rows).toHaveLength(4);
    const lines = await read('chat.txt', WHATSAPP, {
      delimiter: 'none',
      columns: ['prompt'],
      headerRow: 0,
      tags: 'send',
    });
    expect(lines.rows).toHaveLength(5);
  });

  it('has voices, and no notes above the first and below the last message', async () => {
    const { rows } = await read('otter.txt', OTTER, {}, { inputTypes: TTS });
    expect(rows).toEqual([
      '{"text":"It opens with the bell.","voice":"Nadia"}',
      '{"text":"Right.","voice":"Speaker 2"}',
    ]);
  });

  it('of Discord has the names of people and programs above their texts, and asks about the programs', async () => {
    const text = [
      'Jo — 11/03/2025 9:04 PM',
      'a fox',
      'in snow',
      'Echo',
      'APP',
      ' — 11/03/2025 9:05 PM',
      'a fox, drawn',
      '',
      'Mia — Today at 9:06 PM',
      'an owl',
    ].join('\n');
    const { rows, guesses } = await read('chat.txt', text, {}, { inputTypes: TTS });
    expect(rows).toEqual([
      '{"text":"a fox\\nin snow","voice":"Jo"}',
      '{"text":"a fox, drawn","voice":"Echo"}',
      '{"text":"an owl","voice":"Mia"}',
    ]);
    expect(guesses[1]).toContain('; to leave out what programs wrote: --where \'voice != "Echo"\'');
    expect(guesses[1]).toContain('; to run the texts of one voice: --where \'voice = "Jo"\', or');
    const where = 'voice != "Echo"';
    const people = await read('chat.txt', text, { where, totals: 'skip' }, { inputTypes: TTS });
    expect(people.rows).toHaveLength(2);
  });

  it('with Midjourney has a row for each command, and no answer, name or echo is one', async () => {
    const text = [
      'Jo — 11/03/2025 9:04 PM',
      '/imagine prompt: a fox --no text',
      'Midjourney Bot',
      'APP',
      ' — 11/03/2025 9:05 PM',
      '**a fox --no text** - @Jo (fast)',
      '',
      'Mia — 11/03/2025 9:06 PM',
      'love it',
      '/imagine prompt: an owl',
    ].join('\n');
    const inputTypes = [input('prompt', 'string', { required: true }), input('negative_prompt', 'string')];
    const fox = '{"negative_prompt":"text","prompt":"a fox"}';
    const { rows, guesses } = await read('chat.txt', text, {}, { inputTypes });
    expect([rows, guesses]).toEqual([
      [fox, '{"prompt":"an owl"}'],
      [
        'prompts with parameters of Midjourney are read as a table (--format midjourney)',
        '? the 2 lines of this chat that begin with /imagine are the prompts; lines 1,3-6,8-9 ("Jo — 11/03/2025 9:04 PM", "Midjourney Bot", "APP", "— 11/03/2025 9:05 PM", "**a fox --no text** - @Jo (fast)", …) are left out; to run all messages: --format chat (--totals skip)',
      ],
    ]);
    expect((await read('chat.txt', text, { totals: 'skip' }, { inputTypes })).rows).toEqual(rows);
    const spoken = await read('chat.txt', text, {}, { inputTypes: TTS });
    expect(spoken.rows[2]).toBe('{"text":"love it\\n/imagine prompt: an owl","voice":"Mia"}');
  });
});
