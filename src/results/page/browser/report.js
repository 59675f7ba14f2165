// The page of a batch, ended or under way: its views, and what is shown in them.

import { Button, html, render, save, useEffect, useMemo, useRef, useNamed, useState } from './parts.js';
import { arrange, EVERYTHING } from './arrange.js';
import { Charts } from './charts.js';
import { Costs } from './costs.js';
import { detailFiles, jsonIn, readColumns, smallCopies } from './data.js';
import { Filters } from './filters.js';
import { Gallery } from './gallery.js';
import { axesOf, Grid } from './grid.js';
import { Head } from './head.js';
import { besidePage } from './live.js';
import { choiceOf, Picks } from './picks.js';
import { cellIn, RowCard } from './row-card.js';
import { RowView } from './row-view.js';
import { Table } from './all-rows.js';

/** @import { ReportFacts } from '../report.ts' */
/** @import { Running } from '../living-page.ts' */
/** @import { Source } from './row-card.js' */
/** @import { Card, Cell } from './gallery.js' */

/** @typedef {{ order: ArrayLike<number>, place: number, attempt: number }} Opened */
/** @typedef {ReturnType<typeof detailFiles>['file']} ReadFile */

const FEW_ROWS = 12;
const LOADING = { state: 'loading' };
const VIEWS = { rows: 'Rows', grid: 'Grid', times: 'Time', costs: 'Cost' };

/** @type {(facts: ReportFacts, page: HTMLElement) => Promise<void>} */
export async function startReport(facts, page) {
  const { out = facts.out } = document.getElementById('place')?.dataset ?? {};
  const table = new Table({ ...facts, ...(out && { out }) });
  const { file, read } = detailFiles(facts.rowsEach);
  const start = (living, running) => {
    const source = { table, picks: new Picks(facts.mark), read: living?.read ?? read };
    const draw = (now) =>
      render(html`<${Report} ...${{ source, running: now }} file=${living ? undefined : file} />`, page);
    draw(running);
    return living?.follow(draw);
  };
  const [columns, small, live] = await Promise.all([readColumns(), smallCopies(), jsonIn('live.js')]);
  table.load(columns, facts);
  table.markSame();
  table.small = small;
  const isOver = facts.summary && (!live || live.summary);
  return isOver ? start() : start(besidePage(table, read), LOADING);
}

/** `running`: while the batch runs. @param {{ source: Source, file: ReadFile | undefined, running: Running | undefined }} props */
function Report({ source, file, running }) {
  const { table, picks } = source;
  const [view, setView] = useState('rows');
  const [wish, setWish] = useState(EVERYTHING);
  const [opened, setOpened] = useState(/** @type {Opened | undefined} */ (undefined));
  const [, setPicked] = useState(0);
  const port = useRef();
  const deep = useDeepSearch(wish.text, file, table.facts.rowsEach);
  const order = useMemo(
    () => arrange(table, { ...wish, deep }, picks),
    [wish, deep, table.version, table.rows],
  );
  const axes = useMemo(() => axesOf(table), [table.version, table.rows]);
  const change = (changed) => setWish((known) => ({ ...known, ...changed }));
  const filter = (only) => {
    setView('rows');
    change({ ...EVERYTHING, ...only });
  };
  const open = (row, attempt = 0) => {
    const isShown = order.includes(row);
    if (!isShown) change(EVERYTHING);
    const all = isShown ? order : arrange(table, EVERYTHING, picks);
    setOpened({ order: all, place: all.indexOf(row), attempt });
  };
  useNamed((key) => {
    const row = key === '' || opened ? -1 : table.key.indexOf(key);
    if (row >= 0) open(row);
  });
  const onPick = () => setPicked((times) => times + 1);
  const onClose = () => {
    setOpened(undefined);
    if (view === 'rows' && opened?.order === order) port.current?.reveal(opened.place);
  };
  const content = {
    rows: () => html`<${Rows} ...${{ source, order, wish, change, setOpened, onPick, port }} />`,
    grid: () => html`<${Grid} ...${{ source, axes, onPick }} open=${setOpened} />`,
    times: () => html`<${Charts} table=${table} open=${open} />`,
    costs: () => html`<${Costs} table=${table} />`,
  }[view];
  const go = (place) => opened && setOpened({ ...opened, place, attempt: 0 });
  return html`<header>
      <${Head} ...${{ table, running, open, filter }} isShort=${view !== 'rows'} />
      <${Tabs} view=${view} setView=${setView} hasGrid=${axes.length > 0} />
    </header>
    <main><div id="panel-${view}" role="tabpanel" aria-labelledby="tab-${view}">${content?.()}</div></main>
    ${opened && html`<${RowView} ...${{ source, onClose, onPick, go, ...opened }} />`}`;
}

/** The cards, and what chooses them. */
function Rows({ source, order, wish, change, setOpened, onPick, port }) {
  const { table, picks } = source;
  // Few cards have room.
  const [density, setDensity] = useState(table.facts.rows <= FEW_ROWS && innerWidth > 640 ? 2 : 1);
  // A live page keeps the cards of the rows that it shows; another wish has new ones.
  const serial = useRef(0);
  useMemo(() => (serial.current += 1), [wish, density]);
  const onKey = (place, key) => {
    const [choice, own] = [choiceOf(key), table.key[order[place] ?? 0]];
    if (choice === undefined || !own) return false;
    picks.toggle(own, choice);
    onPick();
    return true;
  };
  const download = () => save('picks.csv', new Blob([picks.csv(table.key)], { type: 'text/csv' }));
  return html`<${Filters} ...${{ table, picks, wish, change, density, setDensity, download }} shown=${order.length} />
    <${Gallery} key=${serial.current} name="density-${density}" version=${table.version} length=${order.length}
      cellOf=${(room) => cellIn(density, room)} placeOf=${(row) => order.indexOf(row)} onKey=${onKey} port=${port}
      draw=${(place, cell) => drawRow(source, order[place] ?? 0, cell)}
      onOpen=${(place) => setOpened({ order, place, attempt: 0 })}
      nothing="No row is like that." showAll=${() => change(EVERYTHING)} />`;
}

/** @type {(source: Source, row: number, cell: Cell) => Card} */
function drawRow(source, row, cell) {
  const key = source.table.key[row] ?? '';
  return {
    id: row,
    name: source.picks.of(key).mark ?? '',
    href: `#${encodeURIComponent(key)}`,
    content: html`<${RowCard} ...${{ source, row, cell }} />`,
  };
}

/** Arrow keys go from one to the next. @param {{ view: string, setView: (view: string) => void, hasGrid: boolean }} props */
function Tabs({ view, setView, hasGrid }) {
  const shown = Object.entries(VIEWS).filter(([name]) => name !== 'grid' || hasGrid);
  const names = shown.map(([name]) => name);
  const press = ({ key }) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
    const [next = 'rows'] = shown.at((names.indexOf(view) + by) % names.length) ?? [];
    if (by === 0) return;
    setView(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  const tab = ([name, label]) => {
    const isChosen = name === view;
    return html`<${Button} name="tab" id="tab-${name}" role="tab" aria-selected=${isChosen} tabindex=${isChosen ? 0 : -1}
      aria-controls=${isChosen ? `panel-${name}` : undefined} onClick=${() => setView(name)}>${label}<//>`;
  };
  return html`<div id="tabs" role="tablist" aria-label="Views" onKeyDown=${press}>${shown.map(tab)}</div>`;
}

/** The index has the beginning of long cells; the whole cells are searched when the viewer stops typing. @type {(text: string, file: ReadFile | undefined, rowsEach: number) => ReadonlySet<number> | undefined} */
function useDeepSearch(text, file, rowsEach) {
  const [found, setFound] = useState(/** @type {ReadonlySet<number> | undefined} */ (undefined));
  useEffect(() => {
    setFound(undefined);
    if (text.length < 3 || file === undefined) return undefined;
    const search = { isOver: false };
    const start = async () => {
      const rows = await rowsWith(text.toLowerCase(), file, rowsEach, search);
      if (!search.isOver) setFound(rows);
    };
    const timer = setTimeout(() => void start(), 400);
    return () => {
      search.isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}

/** @type {(wanted: string, file: ReadFile, rowsEach: number, search: { readonly isOver: boolean }) => Promise<ReadonlySet<number>>} */
async function rowsWith(wanted, file, rowsEach, search) {
  const found = new Set();
  for (let number = 1; !search.isOver; number += 1) {
    const rows = (await file(number)) ?? [];
    for (const [place, { inputs, data, reason = '' }] of rows.entries()) {
      const all = [...Object.values(inputs), ...Object.values(data), reason];
      if (all.some((cell) => cell.toLowerCase().includes(wanted))) found.add((number - 1) * rowsEach + place);
    }
    if (rows.length < rowsEach) break;
  }
  return found;
}
