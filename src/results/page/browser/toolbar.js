// Chooses which rows are shown, in which order, and how large.

import { at, button, make } from './dom.js';
import { count } from './text.js';
import { DENSITIES } from './cards.js';
import { outcomeCounts } from './head.js';

/** @import { Table } from './table.js' */
/** @import { Wish } from './arrange.js' */
/** @import { Picks } from './picks.js' */

const VALUES_MOST = 40;

/** @typedef {{ table: Table, picks: Picks, wish: () => Wish, change: (change: Partial<Wish>) => void, density: () => number, setDensity: (density: number) => void, print: () => void }} ToolbarParams */

/** @param {ToolbarParams} params */
export function makeToolbar(params) {
  const search = /** @type {HTMLInputElement} */ (at('search'));
  search.oninput = () => params.change({ text: search.value.trim() });
  at('filter-toggle').onclick = () => {
    const isOpen = at('toolbar').classList.toggle('open');
    at('filter-toggle').setAttribute('aria-expanded', String(isOpen));
  };
  at('picks-download').onclick = () => downloadPicks(params);
  at('print').onclick = params.print;
  const group = at('densities');
  for (const [density, { name }] of DENSITIES.entries()) {
    const one = button('', () => params.setDensity(density), `density density-icon-${density}`);
    one.title = name;
    one.setAttribute('aria-label', name);
    for (let cell = 0; cell < ([9, 4, 1, 3][density] ?? 0); cell += 1) one.append(make('i'));
    group.append(one);
  }
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key !== '/' || isTyping || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    search.focus();
  });
}

/** Shows the choices and their counts; called when rows were added or the wish changed.
 * @param {ToolbarParams} params
 */
export function drawToolbar(params) {
  const { table, wish, change, picks } = params;
  const now = wish();
  const search = /** @type {HTMLInputElement} */ (at('search'));
  if (document.activeElement !== search) search.value = now.text;
  drawOutcomes(table, now, change);
  choices(
    'gpu',
    'Any GPU',
    [...new Set(table.gpus.slice(1))].map((name) => [name, name]),
    now.gpu,
    (gpu) => change({ gpu }),
  );
  drawValues(table, now, change);
  const stars = [5, 4, 3, 2, 1].map(
    (one) =>
      /** @type {[string, string]} */ ([String(one), `${'★'.repeat(one)}${one < 5 ? ' or more' : ''}`]),
  );
  choices(
    'picked',
    'Picked or not',
    [['picked', 'Picked'], ['rejected', 'Rejected'], ...stars],
    now.picked,
    (picked) => change({ picked }),
  );
  drawSort(table, now, change);
  for (const [at_, one] of [...at('densities').children].entries())
    one.setAttribute('aria-pressed', String(at_ === params.density()));
  const picked = picks.size;
  at('picks-download').hidden = picked === 0;
  at('picks-download').textContent = `picks.csv (${count(picked)})`;
}

/**
 * @param {Table} table
 * @param {Wish} now
 * @param {(change: Partial<Wish>) => void} change
 */
function drawOutcomes(table, now, change) {
  const counts = [...outcomeCounts(table)].filter(([name, rows]) => rows > 0 || name === now.outcome);
  const others = counts.filter(([name]) => name !== 'succeeded' && name !== 'open');
  const all = /** @type {[string, string, number | undefined][]} */ ([
    ['', 'All', table.rows],
    ...counts.map(([name, rows]) => [name, name === 'open' ? 'not done' : name, rows]),
    ...(others.length > 1
      ? [['others', 'not succeeded', others.reduce((sum, [, rows]) => sum + rows, 0)]]
      : []),
  ]);
  const focused = document.activeElement?.getAttribute('data-outcome');
  at('outcomes').replaceChildren(
    ...all.map(([outcome, label, rows]) => {
      const chip = button('', () => change({ outcome, same: 0 }), 'chip');
      chip.append(label, make('small', '', rows === undefined ? '' : count(rows)));
      chip.setAttribute('aria-pressed', String(now.outcome === outcome));
      chip.dataset['outcome'] = outcome;
      return chip;
    }),
  );
  const again = focused == null ? null : at('outcomes').querySelector(`[data-outcome="${focused}"]`);
  if (again instanceof HTMLElement) again.focus();
}

/**
 * @param {Table} table
 * @param {Wish} now
 * @param {(change: Partial<Wish>) => void} change
 */
function drawValues(table, now, change) {
  const select = /** @type {HTMLSelectElement} */ (at('value'));
  const groups = valuesOf(table);
  select.hidden = groups.length === 0;
  if (document.activeElement !== select) {
    select.replaceChildren(make('option', { value: '' }, 'Any value'));
    for (const { column, values } of groups) {
      const name = table.facts.columns[column] ?? '';
      const options = values.map(([value, rows]) =>
        make(
          'option',
          { value: `${column} ${value}` },
          `${name}: ${value === '' ? '(empty)' : value.slice(0, 40)} (${count(rows)})`,
        ),
      );
      select.append(make('optgroup', { label: name }, ...options));
    }
  }
  select.value = now.column < 0 ? '' : `${now.column} ${now.value}`;
  select.onchange = () => {
    const [column = ''] = select.value.split(' ', 1);
    change(
      select.value === ''
        ? { column: -1, value: '' }
        : { column: Number(column), value: select.value.slice(column.length + 1) },
    );
  };
}

/** The columns of few values, each with its values and how many rows have them.
 * @param {Table} table
 */
function valuesOf(table) {
  return table.cells.flatMap((cells, column) => {
    /** @type {Map<string, number>} */
    const values = new Map();
    for (let row = 0; row < table.rows && values.size <= VALUES_MOST; row += 1) {
      const cell = cells[row];
      if (cell !== undefined) values.set(cell, (values.get(cell) ?? 0) + 1);
    }
    const isFew = values.size > 1 && values.size <= VALUES_MOST && values.size <= table.rows / 2;
    const inOrder = [...values].sort(([a], [b]) => Number(a) - Number(b) || (a < b ? -1 : 1));
    return isFew ? [{ column, values: inOrder }] : [];
  });
}

/**
 * @param {Table} table
 * @param {Wish} now
 * @param {(change: Partial<Wish>) => void} change
 */
function drawSort(table, now, change) {
  /** @type {[string, string][]} */
  const sorts = [
    ['key', 'Key'],
    ['outcome', 'Outcome'],
    ['stars', 'Your stars'],
    ['gpu', 'GPU'],
    ['seconds', 'Run time'],
    ['queue', 'Queueing'],
    ['cost', 'Cost'],
    ['attempts', 'Attempts'],
    ['ended', 'End'],
    ['bytes', 'File size'],
    ...table.facts.columns.map((name, column) => /** @type {[string, string]} */ ([`c${column}`, name])),
  ];
  choices('sort', 'Order of the sheet', sorts, now.sort === 'row' ? '' : now.sort, (sort) =>
    change({ sort: sort || 'row' }),
  );
  const direction = at('direction');
  direction.textContent = now.down ? '↓' : '↑';
  direction.setAttribute('aria-label', now.down ? 'descending' : 'ascending');
  direction.onclick = () => change({ down: !now.down });
}

/**
 * @param {string} id
 * @param {string} none
 * @param {[string, string][]} options
 * @param {string} value
 * @param {(value: string) => void} onChange
 */
function choices(id, none, options, value, onChange) {
  const select = /** @type {HTMLSelectElement} */ (at(id));
  const all = [['', none], ...options].map(([name = '', label = '']) =>
    make('option', { value: name }, label),
  );
  if (document.activeElement !== select || select.options.length !== all.length)
    select.replaceChildren(...all);
  select.value = value;
  select.onchange = () => onChange(select.value);
}

/** @param {ToolbarParams} params */
function downloadPicks({ picks, table }) {
  const href = URL.createObjectURL(new Blob([picks.csv(table.key)], { type: 'text/csv' }));
  make('a', { href, download: 'picks.csv' }).click();
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
