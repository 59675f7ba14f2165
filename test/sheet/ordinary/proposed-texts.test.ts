// The column that a refusal proposes for a text: never one that a program has filled, and none with HTML without a word about it.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

const TEXT = [input('prompt', 'string', { required: true }), input('seed', 'int')];

/** The hint of a sheet that lacks the prompt, and the flags that its command would have. */
async function proposed(text: string, inputTypes = TEXT) {
  const refused = await read('a.csv', text, {}, { inputTypes }).then(
    () => undefined,
    (error: { problems: readonly { hint: string; correction?: { add: readonly unknown[] } }[] }) => error,
  );
  const [missing] = refused?.problems ?? [];
  return { hint: missing?.hint, flags: missing?.correction?.add };
}

const sheetOf = (name: string, cells: readonly string[], answers: string): string => {
  const words = answers.split(',');
  return `${name},Animal\n${cells.map((cell, at) => `"${cell}",${words[at]}\n`).join('')}`;
};

describe('a column for a text', () => {
  it.each([
    ['Timestamp', '3/2/2026 9:14:11;3/3/2026 12:01:00;3/3/2026 8:40:55'],
    ['Zeitstempel', '02.03.2026 09:14:11;03.03.2026 12:01:00;03.03.2026 08:40:55'],
    ['Horodateur', '2 mars 2026 09:14;3 mars 2026 12:01;3 mars 2026 08:40'],
    ['Created', '02/Mar/26 9:14 AM;03/Mar/26 12:01 PM;03/Mar/26 8:40 AM'],
    ['Submitted', 'March 2, 2026 9:14 AM;March 3, 2026 12:01 PM;March 3, 2026 8:40 AM'],
    ['日時', '2026年3月2日 9:14:11;2026年3月3日 12:01:00;2026年3月3日 8:40:55'],
    ['Email Address', 'ida@orchard.example;tom@quay.example;mei@harbor.example'],
    ['From', 'Ida Holm <ida@orchard.example>;Tom <tom@quay.example>;Mei <mei@harbor.example>'],
    ['Phone', '+45 20 11 22 33;+353 1 555 0134;+32 9 555 01 99'],
    ['Profile', 'https://a.example/ida;https://a.example/tom;https://a.example/mei'],
    ['Network ID', 'a1f2e3d4c5zzzzzz;b2e3d4c5f6zzzzzz;c3d4f5e6a7zzzzzz'],
    ['Response', 'completed_questionnaire;completed_questionnaire;completed_questionnaire'],
  ])('is no %s beside short answers', async (name, cells) => {
    const { flags } = await proposed(sheetOf(name, cells.split(';'), 'fox,owl,heron'));
    expect(flags).toEqual([['--map', 'prompt=Animal']]);
  });

  it('is left open where a form has several short answers', async () => {
    const { hint, flags } = await proposed(
      'Timestamp,Which animal?,Where?\n3/2/2026 9:14:11,fox,snow\n3/3/2026 8:40:55,owl,a barn\n',
    );
    expect(flags).toBeUndefined();
    expect(hint).toContain("add --map 'prompt=Which animal?', or --map 'prompt=Where?', or --set");
    expect(hint).not.toContain('=Timestamp');
  });

  it('may have names of a program if a word of its name is one of the input', async () => {
    const inputTypes = [input('voice_model', 'string', { required: true })];
    const text = 'Voice,Line\nen-US-2,Hello there\nen-GB-1,Good bye\n';
    expect((await proposed(text, inputTypes)).flags).toEqual([['--map', 'voice_model=Voice']]);
  });

  it.each([
    ['Body (HTML)', 'a plain text of some length'],
    ['Description', '<p>A lamp of <b>brass</b></p>'],
  ])('is a choice, and no command, if it may have HTML: %s with %s', async (name, cell) => {
    const text = `Handle,Title,${name}\nx,Brass lamp,${cell}\ny,Oak board,${cell}\n`;
    const { hint, flags } = await proposed(text);
    expect(flags).toBeUndefined();
    expect(hint).toMatch(/add --map prompt=Title, or --map '?prompt=(?:Body|Description)/);
    expect(hint).not.toContain('prompt=Handle');
  });

  it('with HTML is the command where no other column has a text, and a line says so', async () => {
    const { flags } = await proposed('sku,description\nA1,<p>Sporty top</p>\nA2,<p>Red dress</p>\n');
    expect(flags).toEqual([['--map', 'prompt=description']]);
  });
});
