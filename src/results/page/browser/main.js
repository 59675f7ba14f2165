// Puts the page together.

import { at, make } from './dom.js';
import { count } from './text.js';
import { readColumns } from './decode.js';
import { Table } from './table.js';
import { arrange, EVERYTHING } from './arrange.js';
import { detailFiles, servedDetails, smallCopies } from './details.js';
import { Picks } from './picks.js';
import { factsOf } from './cards.js';
import { Gallery } from './gallery.js';
import { Enlarged } from './enlarged.js';
import { drawHead } from './head.js';
import { drawToolbar, makeToolbar } from './toolbar.js';
import { drawTimes } from './time-chart.js';
import { drawCosts } from './cost-tables.js';
import { follow } from './live.js';
import { kindOf } from './media.js';

/** @import { ReportFacts } from '../report.ts' */
/** @import { Wish } from './arrange.js' */
/** @import { Running } from './head.js' */

const PRINTED_MOST = 500;
const FEW_ROWS = 12;

const facts = /** @type {ReportFacts} */ (JSON.parse(at('data').textContent ?? ''));
const table = new Table(facts);
const picks = new Picks(facts.mark);
const files = detailFiles(facts.rowsEach);
const read = facts.isServed ? servedDetails() : files.read;
let wish = EVERYTHING;
let tab = 'rows';
/** @type {Running | undefined} */
let running;

const gallery = new Gallery({ table, picks, read }, (place) => enlarged.open(place));
const enlarged = new Enlarged(
  { table, picks, read },
  {
    order: () => gallery.order,
    onClose: (place) => gallery.reveal(place),
    onPick: (place) => {
      gallery.redraw(place);
      drawToolbar(tools);
    },
  },
);

/** @param {Partial<Wish>} changed */
function change(changed) {
  wish = { ...wish, ...changed };
  showTab('rows');
  arrangeRows(false);
  drawToolbar(tools);
  searchDeep();
}

/** A filter that a link in the page sets replaces the others. @param {Partial<Wish>} only */
function filterOnly(only) {
  change({ ...EVERYTHING, ...only });
  at('toolbar').scrollIntoView({ block: 'start' });
}

/** @param {boolean} isSame */
function arrangeRows(isSame) {
  const order = arrange(table, wish, picks);
  gallery.show(order, isSame);
  const shown = order.length === table.rows ? '' : `${count(order.length)} of `;
  at('count').textContent = `${shown}${count(table.rows)} rows`;
  at('reset').hidden = order.length === table.rows && wish.sort === 'row';
  at('nothing').hidden = order.length > 0;
}

/** Opens a row that may not be among those shown. @param {number} row */
function openRow(row) {
  if (!gallery.order.includes(row)) change(EVERYTHING);
  enlarged.open(gallery.order.indexOf(row));
}

const tools = {
  table,
  picks,
  wish: () => wish,
  change,
  density: () => gallery.density,
  setDensity: (/** @type {number} */ density) => {
    gallery.setDensity(density);
    drawToolbar(tools);
  },
  print: () => void print(),
};

const head = { table, filter: filterOnly, open: openRow };

/** @param {string} name */
function showTab(name) {
  tab = name;
  for (const one of ['rows', 'times', 'costs']) {
    at(`panel-${one}`).hidden = one !== name;
    at(`tab-${one}`).setAttribute('aria-selected', String(one === name));
  }
  if (name === 'times') drawTimes(table, openRow);
  if (name === 'costs') drawCosts(table);
}

let searching = 0;

/** The index has the beginning of long cells; the whole cells are searched when the viewer stops typing. */
function searchDeep() {
  const { text, deep } = wish;
  const own = (searching += 1);
  if (deep !== undefined && text.length < 3) wish = { ...wish, deep: new Set() };
  if (text.length >= 3 && !facts.isServed) setTimeout(() => void searchFiles(text.toLowerCase(), own), 400);
}

/** @type {(wanted: string, own: number) => Promise<void>} */
async function searchFiles(wanted, own) {
  const found = new Set();
  for (let number = 1; number <= Math.ceil(table.rows / facts.rowsEach); number += 1) {
    if (own !== searching) return;
    for (const [place, { inputs, data, reason = '' }] of ((await files.file(number)) ?? []).entries()) {
      const all = [...Object.values(inputs), ...Object.values(data), reason];
      if (all.some((cell) => cell.toLowerCase().includes(wanted)))
        found.add((number - 1) * facts.rowsEach + place);
    }
  }
  if (own !== searching) return;
  wish = { ...wish, deep: found };
  arrangeRows(true);
}

/** Prints the rows that are shown, once their pictures are there. */
async function print() {
  const sheet = at('printed');
  const rows = Array.from(gallery.order.slice(0, PRINTED_MOST));
  const cards = rows.map((row) => {
    const src = table.file[row] ?? '';
    return make(
      'div',
      kindOf(src) === 'picture'
        ? make('img', { src, alt: '' })
        : make('p', table.reason[row] || table.outcomeName(row)),
      make('b', table.key[row]),
      make('p', table.caption(row)),
      make('small', factsOf(table, row)),
    );
  });
  const rest = gallery.order.length - rows.length;
  sheet.replaceChildren(...cards, rest > 0 ? make('p', `and ${count(rest)} more rows`) : '');
  await Promise.all([...sheet.querySelectorAll('img')].map((image) => image.decode().catch(() => undefined)));
  globalThis.print();
  sheet.replaceChildren();
}

function openFromAddress() {
  const key = decodeURIComponent(location.hash.slice(1));
  const row = key === '' ? -1 : table.key.indexOf(key);
  if (row >= 0) openRow(row);
}

function drawAll() {
  drawHead(head, running);
  arrangeRows(facts.isServed);
  drawToolbar(tools);
  if (tab !== 'rows') showTab(tab);
}

makeToolbar(tools);
// Few cards have room.
if (facts.rows <= FEW_ROWS && innerWidth > 640) gallery.setDensity(2);
for (const name of ['rows', 'times', 'costs']) at(`tab-${name}`).onclick = () => showTab(name);
for (const id of ['reset', 'reset-nothing']) at(id).onclick = () => change(EVERYTHING);
addEventListener('hashchange', () => enlarged.isOpen || openFromAddress());
showTab('rows');
if (facts.isServed) {
  drawAll();
  void follow(table, (news) => {
    running = news.running;
    if (news.added > 0 || running === undefined) drawAll();
    else drawHead(head, running);
  });
} else
  void Promise.all([readColumns(), smallCopies()]).then(([columns, small]) => {
    table.load(columns);
    table.small = small;
    drawAll();
    openFromAddress();
    document.documentElement.dataset['ready'] = 'true';
  });
