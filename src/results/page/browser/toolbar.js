// Chooses which rows are shown, in which order, and how large.

import { drawChips, drawChoices, drawSearch, makeSearch } from './controls.js';
import { at, button, make } from './dom.js';
import { count } from './text.js';
import { DENSITIES } from './cards.js';
import { outcomeCounts } from './head.js';

/** @import { Choice } from './controls.js' */
/** @import { Table } from './table.js' */
/** @import { Wish } from './arrange.js' */
/** @import { Picks } from './picks.js' */

const VALUES_MOST = 40;
/** @type {Choice[]} */
const SORTS = [
  ['', 'Order of the sheet'],
  ['key', 'Key'],
  ['outcome', 'Outcome'],
  ['stars', 'Your stars'],
  ['gpu', 'GPU'],
  ['seconds', 'Run time'],
  ['queue', 'Queueing'],
  ['cost', 'Cost'],
  ['tries', 'Attempts'],
  ['ended', 'End'],
  ['bytes', 'File size'],
];
/** @type {Choice[]} */
const PICKED = [
  ['', 'Picked or not'],
  ['picked', 'Picked'],
  ['rejected', 'Rejected'],
  ['5', '★★★★★'],
  ['4', '★★★★ or more'],
  ['3', '★★★ or more'],
  ['2', '★★ or more'],
  ['1', '★ or more'],
];

/** @typedef {{ table: Table, picks: Picks, wish: () => Wish, change: (change: Partial<Wish>) => void, density: () => number, setDensity: (density: number) => void, print: () => void }} ToolbarParams */

/** @param {ToolbarParams} params */
export function makeToolbar(params) {
  makeSearch((text) => params.change({ text }));
  at('filter-toggle').onclick = () => {
    const isOpen = at('toolbar').classList.toggle('open');
    at('filter-toggle').setAttribute('aria-expanded', String(isOpen));
  };
  at('picks-download').onclick = () => downloadPicks(params);
  at('print').onclick = params.print;
  at('direction').onclick = () => params.change({ down: !params.wish().down });
  for (const [density, { name, icon }] of DENSITIES.entries()) {
    const [many, across, wide, high] = icon;
    const style = { '--across': across, '--wide': `${wide}px`, '--high': `${high}px` };
    const cells = Array.from({ length: many }, () => make('i'));
    const set = () => params.setDensity(density);
    at('densities').append(button('density', set, { title: name, 'aria-label': name, style }, cells));
  }
}

/** Shows the choices and their counts; called when rows were added or the wish changed.
 * @param {ToolbarParams} params
 */
export function drawToolbar({ table, wish, change, picks, density }) {
  const { text, outcome, gpu, column, value, picked, sort, down } = wish();
  drawSearch(text);
  drawChips(outcomeChips(table, outcome), outcome, (name) => change({ outcome: name, same: 0 }));
  const gpus = [...new Set(table.gpus.slice(1))].map((name) => /** @type {Choice} */ ([name, name]));
  drawChoices('gpu', [['', 'Any GPU'], ...gpus], gpu, (name) => change({ gpu: name }));
  const values = valuesOf(table);
  at('value').hidden = values.length === 0;
  drawChoices('value', [['', 'Any value'], ...values], column < 0 ? '' : `${column} ${value}`, (chosen) => {
    const [number = ''] = chosen.split(' ', 1);
    change({ column: chosen === '' ? -1 : Number(number), value: chosen.slice(number.length + 1) });
  });
  drawChoices('picked', PICKED, picked, (name) => change({ picked: name }));
  const columns = table.facts.columns.map((name, nth) => /** @type {Choice} */ ([`c${nth}`, name]));
  drawChoices('sort', [...SORTS, ...columns], sort === 'row' ? '' : sort, (name) =>
    change({ sort: name || 'row' }),
  );
  at('direction').textContent = down ? '↓' : '↑';
  at('direction').setAttribute('aria-label', down ? 'descending' : 'ascending');
  for (const [nth, one] of [...at('densities').children].entries())
    one.setAttribute('aria-pressed', String(nth === density()));
  at('picks-download').hidden = picks.size === 0;
  at('picks-download').textContent = `picks.csv (${count(picks.size)})`;
}

/** @type {(table: Table, chosen: string) => (readonly [name: string, label: string, rows: number])[]} */
function outcomeChips(table, chosen) {
  const counts = [...outcomeCounts(table)].filter(([name, rows]) => rows > 0 || name === chosen);
  const others = counts.filter(([name]) => name !== 'succeeded' && name !== 'open');
  const sum = others.reduce((all, [, rows]) => all + rows, 0);
  return [
    ['', 'All', table.rows],
    ...counts.map(([name, rows]) => /** @type {const} */ ([name, name === 'open' ? 'not done' : name, rows])),
    ...(others.length > 1 ? [/** @type {const} */ (['others', 'not succeeded', sum])] : []),
  ];
}

/** The columns of few values, each with its values and how many rows have them. @param {Table} table */
function valuesOf(table) {
  return table.cells.flatMap((cells, column) => {
    /** @type {Map<string, number>} */
    const values = new Map();
    for (let row = 0; row < table.rows && values.size <= VALUES_MOST; row += 1) {
      const cell = cells[row];
      if (cell !== undefined) values.set(cell, (values.get(cell) ?? 0) + 1);
    }
    if (values.size < 2 || values.size > VALUES_MOST || values.size > table.rows / 2) return [];
    const label = table.facts.columns[column] ?? '';
    const options = [...values]
      .sort(([a], [b]) => Number(a) - Number(b) || (a < b ? -1 : 1))
      .map(([value, rows]) => {
        const name = `${label}: ${value === '' ? '(empty)' : value.slice(0, 40)} (${count(rows)})`;
        return /** @type {Choice} */ ([`${column} ${value}`, name]);
      });
    return [{ label, options }];
  });
}

/** @param {ToolbarParams} params */
function downloadPicks({ picks, table }) {
  const href = URL.createObjectURL(new Blob([picks.csv(table.key)], { type: 'text/csv' }));
  make('a', { href, download: 'picks.csv' }).click();
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
