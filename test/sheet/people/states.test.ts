// Columns with states of rows: few rows and words of other languages, columns of exports that have none, and answers of one count.

import { describe, expect, it } from 'vitest';
import { read } from './reading.ts';

const sheetOf = (name: string, cells: readonly string[], further: readonly string[] = []): string => {
  const rows = cells.map((cell, at) => [`fox ${at}`, cell, ...further.map((word) => `${word} ${at}`)]);
  return [['prompt', name, ...further], ...rows].map((row) => `${row.join(',')}\n`).join('');
};

/** The columns that are asked about as states. */
async function askedIn(text: string): Promise<readonly string[]> {
  const { guesses } = await read('a.csv', text);
  return guesses.flatMap((guess) => /^\? all rows run, whatever column "([^"]+)"/.exec(guess)?.[1] ?? []);
}

describe('a state', () => {
  it.each([
    ['Fertig', 'ja,nein'],
    ['Sale', 'yes,no'],
    ['Stock', 'oui,non'],
    ['Llegó', 'sí,no'],
    ['Готов', 'да,нет'],
    ['公開', 'はい,いいえ'],
    ['Gotowe', 'tak,nie'],
    ['Erledigt', 'ja,,'],
    ['Check', 'ja,,'],
    ['Check', 'ok,'],
    ['Aktiv', '1,0'],
    ['Erledigt?', '0,1'],
    ['Use', '1,0'],
    ['Stand', 'offen,fertig'],
    ['Stand', 'erledigt,'],
    ['État', 'à faire,livré'],
    ['Statut', 'brouillon,publié'],
    ['Bereits erledigt', 'schon,noch nicht'],
    ['availability', 'in_stock,out_of_stock'],
    ['Lager', 'auf Lager,ausverkauft'],
    ['Action', 'Add,End,Revise'],
    ['Change', 'new,gelöscht,neu'],
  ])('is asked about in few rows, and in other words: %s %s', async (name, cells) => {
    expect(await askedIn(sheetOf(name, cells.split(',')))).toEqual([name]);
  });

  it.each([
    ['Active users', '17,23'],
    ['Sec', '1,1,,2'],
    ['Übergeordnet', 'KER-03,KER-03,'],
    ['Status', 'freigegeben,freigegeben'],
    ['Where?', 'Hall,Kitchen,Hall'],
    ['Ready by', '1 May,2 May'],
    ['Run', '1,2'],
    ['Open hours', '9-17,8-12'],
    ['ok', 'nein,nein'],
    ['Position', 'Start,Middle,End'],
    ['Action', 'running,jumping,asleep'],
  ])('is none: %s %s', async (name, cells) => {
    expect(await askedIn(sheetOf(name, cells.split(',')))).toEqual([]);
  });
});

describe('an export of many columns', () => {
  const FURTHER = ['Handle', 'Tags', 'Weight', 'Barcode', 'Shelf', 'Supplier', 'Note'];

  it.each([
    ['Vendor', 'Nord,,,Nord'],
    ['Parent', 'VASE,VASE,,'],
    ['Image Position', '1,,,1'],
    ['Image Position', '1,2,,1'],
    ['Taxable', '1,0,,1'],
  ])('has no states in %s %s', async (name, cells) => {
    expect(await askedIn(sheetOf(name, cells.split(','), FURTHER))).toEqual([]);
  });

  it.each([
    ['Status', 'active,,,active'],
    ['Published', '1,,,1'],
    ['Use', 'x,,,x'],
    ['Gift card', 'TRUE,,,FALSE'],
    ['Erledigt', 'ja,,,'],
    ['Inventory', 'in stock,sold out,preorder,in stock'],
    ['In stock?', '1,0,1,1'],
    ['*Action(SiteID=UK|Country=GB)', 'Add,Revise,Add,End'],
    ['Foto?', 'fazer,já tem,fazer,fazer'],
    ['Visibility in catalog', 'visible,visible,hidden,visible'],
  ])('has states in %s %s', async (name, cells) => {
    expect(await askedIn(sheetOf(name, cells.split(','), FURTHER))).toEqual([name]);
  });

  it('has one of a word that few columns surround', async () => {
    expect(await askedIn(sheetOf('Vendor', ['Nord', '', '', 'Nord']))).toEqual(['Vendor']);
  });
});

it.each([
  ['{"prompt":"a fox","enabled":true}\n{"prompt":"a crow","enabled":false}\n', ['enabled']],
  ['{"prompt":"a fox","status":"done"}\n{"prompt":"a crow","status":"todo"}\n', ['status']],
  ['{"prompt":"a fox","by":"Ann"}\n{"prompt":"a crow","by":"Bob"}\n', []],
])('a member of objects may be a state: %s', async (text, members) => {
  const { guesses } = await read('a.jsonl', text);
  expect(guesses.flatMap((guess) => /whatever column "([^"]+)"/.exec(guess)?.[1] ?? [])).toEqual(members);
});

describe('the answers to the question about a state', () => {
  it('say which rows run where opposites leave equally many', async () => {
    const { guesses } = await read('a.csv', sheetOf('Done', ['x', '', 'x', '']));
    expect(guesses).toEqual([
      '? all rows run, whatever column "Done" says ("x", empty); to leave out "x" and run 2 of 4 rows: --where \'Done != "x"\'; to run the 2 of 4 rows with "x": --where \'Done = "x"\' (--drop Done)',
    ]);
  });

  it('say so of empty cells too', async () => {
    const days = ['1 May', '2 May', '3 May', '4 May', '5 May', '6 May', '7 May'];
    const { guesses } = await read('a.csv', sheetOf('Rendered', [...days, ...days.map(() => '')]));
    expect(guesses[0]).toContain(
      'to run the 7 of 14 rows with empty cells: --where \'Rendered = ""\'; to leave out empty cells and run 7 of 14 rows: --where',
    );
  });

  it('have the number alone where it tells them apart', async () => {
    const { guesses } = await read('a.csv', sheetOf('Done', ['x', '', 'x']));
    expect(guesses[0]).toContain(
      `to run 1 of 3 rows: --where 'Done != "x"'; to run 2 of 3 rows: --where 'Done = "x"'`,
    );
  });

  it.each([
    ['à refaire ?', 'non,oui,ok,oui,non', `'"à refaire ?" = "oui"'`],
    ['Paid?', 'no,yes', `'"Paid?" = "yes"'`],
    ['Use', 'x,,x', `'Use = "x"'`],
    ['Done?', 'x,,x', `'"Done?" != "x"'`],
    ['Skip?', 'yes,,', `'"Skip?" != "yes"'`],
    ['Action', 'Add,End,Delete,Revise', `'Action not in ("End", "Delete")'`],
  ])('begin with the rows that the word wishes for: %s', async (name, cells, first) => {
    const { guesses } = await read('a.csv', sheetOf(name, cells.split(',')));
    expect(/--where ('[^']+')/.exec(guesses[0] ?? '')?.[1]).toBe(first);
  });
});
