// Chooses which rows are shown, in which order, and how large.

import { Button, Chips, Choices, html, Search, useMemo, useState } from './parts.js';
import { count, plural } from './text.js';
import { DENSITIES } from './row-card.js';
import { EVERYTHING, fewValues, valueText } from './arrange.js';

/** @import { Table } from './all-rows.js' */
/** @import { Wish } from './arrange.js' */
/** @import { Picks } from './picks.js' */

const VALUES_MOST = 40;
const SORTS = {
  '': 'Order of the sheet',
  key: 'Key',
  outcome: 'Outcome',
  stars: 'Your stars',
  gpu: 'GPU',
  seconds: 'Run time',
  queue: 'Queueing',
  cost: 'Cost',
  tries: 'Attempts',
  ended: 'End',
  bytes: 'File size',
};
const STARS = [4, 3, 2, 1].map((stars) => [`${stars}`, `${'★'.repeat(stars)} or more`]);
const PICKED = [['', 'Picks…'], ['picked', 'Picked'], ['rejected', 'Rejected'], ['5', '★★★★★'], ...STARS];
const SIZES = DENSITIES.map(({ name }, nth) => [`${nth}`, name]);

/** `shown`: how many rows are shown. @param {{ table: Table, picks: Picks, wish: Wish, density: number, shown: number, [does: string]: any }} props */
export function Filters({ table, picks, wish, change, density, setDensity, shown, download }) {
  const [isOpen, setOpen] = useState(false);
  const { outcome, gpu, column, value, picked, sort, down, text } = wish;
  const many = [outcome, gpu, column >= 0, picked, sort !== 'row'].filter(Boolean).length;
  const { gpus, values, outcomes } = useMemo(() => choicesOf(table), [table.version, table.rows]);
  const chips = outcomes.filter(([name, , rows]) => rows > 0 || name === outcome);
  const sorts = [...Object.entries(SORTS), ...table.facts.columns.map((name, nth) => [`c${nth}`, name])];
  const setValue = (chosen) => {
    const [number = ''] = chosen.split(' ', 1);
    change({ column: number === '' ? -1 : Number(number), value: chosen.slice(number.length + 1) });
  };
  const choices = (id, label, options, chosen, onValue) =>
    options.length > 1 && html`<${Choices} ...${{ id, label, options, value: chosen, onValue }} />`;
  const isAll = shown === table.rows && sort === 'row' && !down;
  return html`<div id="toolbar" class=${isOpen ? 'open' : ''}>
    <div class="bar wrap">
      <${Search} what="Find in rows" text=${text} onText=${(typed) => change({ text: typed })} />
      <${Button} id="filter-toggle" aria-expanded=${isOpen} aria-controls="filters" onClick=${() => setOpen(!isOpen)}>
        Filter${many > 0 && ` (${many})`}<//>
      ${choices('density', 'Size of the cards', SIZES, `${density}`, (size) => setDensity(Number(size)))}
    </div>
    <div class="wrap" id="filters">
      <${Chips} label="Outcome" isOutcome all=${chips} chosen=${outcome} choose=${(name) => change({ outcome: name })} />
      ${choices('gpu', 'GPU', gpus, gpu, (name) => change({ gpu: name }))}
      ${choices('value', 'Value of a column', values, column < 0 ? '' : `${column} ${value}`, setValue)}
      ${choices('picked', 'Picks', PICKED, picked, (name) => change({ picked: name }))}
      ${choices('sort', 'Order', sorts, sort === 'row' ? '' : sort, (name) => change({ sort: name || 'row' }))}
      <${Button} id="direction" of=${down ? 'descending' : 'ascending'} onClick=${() => change({ down: !down })}>${down ? '↓' : '↑'}<//>
    </div>
    <div class="wrap note status">
      <span id="count" role="status">${shown === table.rows ? '' : `${count(shown)} of `}${plural(table.rows, 'row')}</span>
      ${!isAll && html`<${Button} id="reset" name="link" onClick=${() => change(EVERYTHING)}>Show all<//>`}
      ${picks.size > 0 && html`<${Button} id="picks-download" name="link" onClick=${download}>Save picks.csv (${count(picks.size)})<//>`}
    </div>
  </div>`;
}

/** @param {Table} table */
function choicesOf(table) {
  const counts = [...table.counts()];
  const others = counts.filter(([name, rows]) => name !== 'succeeded' && name !== 'open' && rows > 0);
  const sum = others.reduce((all, [, rows]) => all + rows, 0);
  const used = new Set(table.of.gpu);
  const named = table.gpus.filter((name, nth) => name !== '' && used.has(nth));
  /** @type {(readonly [name: string, label: string, rows: number])[]} */
  const outcomes = [['', 'All', table.rows]];
  for (const [name, rows] of counts) outcomes.push([name, name === 'open' ? 'not done' : name, rows]);
  if (others.length > 1) outcomes.push(['others', 'not succeeded', sum]);
  const few = fewValues(table, VALUES_MOST).map(({ column, name, values }) => ({
    label: name,
    options: [...values].map(([value, rows]) => [
      `${column} ${value}`,
      `${name}: ${valueText(value).slice(0, 40)} (${count(rows)})`,
    ]),
  }));
  const gpus = named.length > 1 ? [['', 'GPU…'], ...named.map((name) => [name, name])] : [];
  return { outcomes, gpus, values: [['', 'Column…'], ...few] };
}
