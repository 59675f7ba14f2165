// Tables of translations: a column for each language, and empty cells where a translation is missing.

import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const inputTypes = ['text', 'target_lang'].map((name) => input(name, 'string', { required: true }));
const TABLE = 'key,de,en,fr\nbtn,In den Warenkorb,Add to basket,\nship,Versand in 3 Tagen,,\n';

async function refusal(text: string, options: Parameters<typeof read>[2] = {}): Promise<RunsheetError> {
  const reading = read('a.csv', text, options, { inputTypes });
  return reading.then(
    () => expect.unreachable('the sheet was read'),
    (error: unknown) => error as RunsheetError,
  );
}

describe('a table of translations without a target language', () => {
  it('is refused with a command for each language, which buys its empty cells', async () => {
    expect(await refusal(TABLE)).toMatchObject({
      code: 'E104',
      message: expect.stringContaining('"en", "fr" are languages with empty cells'),
      hint: `add --map text=de --set target_lang=en --where 'en = ""', or --map text=de --set target_lang=fr --where 'fr = ""'`,
      correction: {
        add: [
          ['--map', 'text=de'],
          ['--set', 'target_lang=en'],
          ['--where', 'en = ""'],
        ],
      },
    });
    const options = { map: { text: 'de' }, set: { target_lang: 'en' }, where: 'en = ""' };
    const { rows, guesses } = await read('a.csv', TABLE, options, { inputTypes });
    expect(rows).toEqual(['ship {"target_lang":"en","text":"Versand in 3 Tagen"}']);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
  });

  it.each([
    ['text,French\nHello,\nBye,Au revoir\n', {}, `add --set target_lang=French --where 'French = ""'`],
    ['de,fr-CA\nHallo,\n', { map: { text: 'de' } }, `add --set target_lang=fr-CA --where 'fr-CA = ""'`],
    ['text,Español,n\nHello,,1\n', { where: 'n = 1' }, `--where '(n = 1) and "Español" = ""'`],
  ])('gets no text that the sheet or the user names already: %s', async (text, options, hint) => {
    expect((await refusal(text, options)).hint).toContain(hint);
  });

  it('says how cells with a word for nothing are translated too', async () => {
    const text = 'key,de,en\na,Hallo,fehlt\nb,Haus,\nc,Baum,fehlt\nd,Fisch,fish\n';
    expect((await refusal(text)).hint).toContain(
      `; if "fehlt" means that none is there: --where 'en in ("", "fehlt")'`,
    );
    const options = { map: { text: 'de' }, set: { target_lang: 'en' }, where: 'en in ("", "fehlt")' };
    expect((await read('a.csv', text, options, { inputTypes })).rows).toHaveLength(3);
  });

  it.each(['key,en,target\nx,Home,de\n', 'id,text,mood\n,Hello,\n', 'key,en,de\nx,Home,Start\n'])(
    'is none without gaps in the column of a language: %s',
    async (text) => {
      expect((await refusal(text)).code).toBe('E200');
    },
  );
});

describe('rows that have their translation', () => {
  const again = `? rows with a text in column "en" are translated again; to leave them out: --where 'en = ""' (--drop en)`;

  it.each([
    ['key,de,en\na,Hallo,Hello\nb,Haus,\n', { map: { text: 'de' }, set: { target_lang: 'en' } }],
    ['key,de,en\na,Hallo,Hello\nb,Haus,\n', { map: { text: 'de' }, set: { target_lang: 'English' } }],
    ['text,target_lang,en\nHallo,en-GB,Hello\nHaus,en,\n', {}],
  ])('are asked about before they are bought again: %s %s', async (text, options) => {
    const { rows, guesses } = await read('a.csv', text, options, { inputTypes });
    expect([rows.length, guesses]).toEqual([2, expect.arrayContaining([again])]);
    const { guesses: fewer } = await read('a.csv', text, { ...options, where: 'en = ""' }, { inputTypes });
    expect(fewer).not.toContain(again);
  });

  it.each([
    'text,target_lang,en\nHallo,fr,Hello\nHaus,en,\n',
    'text,target_lang,en\nHallo,en,\nHaus,en,\n',
    'text,target_lang,de\nHallo,en,Hallo\n',
  ])('are not those of another language, or of several: %s', async (text) => {
    expect((await read('a.csv', text, {}, { inputTypes })).guesses.join()).not.toContain('again');
  });
});
