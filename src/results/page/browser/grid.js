// The rows of a batch as a grid of two columns of few values: prompts against seeds, models against styles. A third column gives pages.

import { Button, Choices, html, useEffect, useMemo, useRef, useState } from './parts.js';
import { fewValues, valueText } from './arrange.js';
import { SaveSheet } from './contact-sheet.js';
import { choiceOf } from './picks.js';
import { Frame } from './row-card.js';
import { count } from './text.js';

/** @import { FewValues } from './arrange.js' */
/** @import { Source } from './row-card.js' */
/** @import { Table } from './table.js' */

/** Which axis; -1: none. @typedef {{ lines: number, columns: number, pages: number }} Chosen */
/** Their values, and the rows of a cell. @typedef {{ lines: string[], columns: string[], pages: string[], rows: (line: number, column: number) => readonly number[] }} Cells */

const VALUES_MOST = 200;
const SIZES = [72, 104, 152, 224, 320];

/** The columns that can be an axis, those of the batch's own grid first; none if there are fewer than two. @param {Table} table */
export function axesOf(table) {
  const own = table.facts.axes ?? [];
  const few = fewValues(table, VALUES_MOST, own);
  const rank = ({ name }) => (own.includes(name) ? own.indexOf(name) : own.length);
  return few.length < 2 ? [] : few.sort((a, b) => rank(a) - rank(b));
}

/** @type {(table: Table, axes: readonly FewValues[], chosen: Chosen, page: number) => Cells} */
function cellsOf(table, axes, chosen, page) {
  const wanted = [chosen.lines, chosen.columns, chosen.pages].map((axis) => axes[axis]);
  const [lines = [''], columns = [''], pages = ['']] = wanted.map((axis) => axis && [...axis.values.keys()]);
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (let row = 0; row < table.rows; row += 1) {
    const name = wanted.map((axis) => (axis ? table.cells[axis.column]?.[row] : '')).join('\n');
    const known = found.get(name);
    if (known === undefined) found.set(name, [row]);
    else known.push(row);
  }
  const shown = pages[Math.min(page, pages.length - 1)];
  return {
    lines,
    columns,
    pages,
    rows: (line, column) => found.get([lines[line], columns[column], shown].join('\n')) ?? [],
  };
}

/** @param {{ source: Source, axes: readonly FewValues[], open: (opened: { order: number[], place: number, attempt: number }) => void, onPick: () => void }} props */
export function Grid({ source, axes, open, onPick }) {
  const { table, picks } = source;
  // More lines than columns fit into a window.
  const [chosen, setChosen] = useState(() => {
    const isTall = (axes[0]?.values.size ?? 0) >= (axes[1]?.values.size ?? 0);
    return { lines: isTall ? 0 : 1, columns: isTall ? 1 : 0, pages: axes.length > 2 ? 2 : -1 };
  });
  const [page, setPage] = useState(0);
  const [size, setSize] = useState(innerWidth > 640 ? 2 : 1);
  const [focused, setFocused] = useState('0,0');
  const box = useRef();
  const cells = useMemo(() => cellsOf(table, axes, chosen, page), [axes, chosen, page, table.version]);
  const order = cells.lines.flatMap((_, line) =>
    cells.columns.flatMap((__, column) => cells.rows(line, column)),
  );
  const side = SIZES[size] ?? 152;
  const weight = (row) => picks.weight(table.key[row] ?? '');
  /** What a cell shows of its rows. */
  const bestIn = (line, column) =>
    [...cells.rows(line, column)].sort((a, b) => weight(b) - weight(a) || a - b)[0];
  const press = (event, line, column) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const choice = choiceOf(event.key.toLowerCase());
    const row = bestIn(line, column);
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    const right = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const turn = { PageUp: -1, PageDown: 1 }[event.key] ?? 0;
    const next = box.current.querySelector(`[data-cell="${line + down},${column + right}"]`);
    if (choice !== undefined && row !== undefined) {
      picks.toggle(table.key[row] ?? '', choice);
      onPick();
    } else if (turn !== 0) setPage(Math.min(cells.pages.length - 1, Math.max(0, page + turn)));
    else if (down + right !== 0) next?.focus();
    else return;
    event.preventDefault();
  };
  const cell = (line, column) => {
    const own = {
      line,
      column,
      row: bestIn(line, column),
      many: cells.rows(line, column).length,
      source,
      side,
    };
    const onOpen = () => own.row !== undefined && open({ order, place: order.indexOf(own.row), attempt: 0 });
    const tabindex = focused === `${line},${column}` ? 0 : -1;
    const onFocus = () => setFocused(`${line},${column}`);
    return html`<td key=${column}><${Cell} ...${own} ...${{ tabindex, onOpen, onFocus, press }} /></td>`;
  };
  const head = (scope) => (value) =>
    html`<th scope=${scope} key=${value} title=${value}><span class="clamp">${valueText(value)}</span></th>`;
  const heads = [axes[chosen.lines]?.name ?? '', axes[chosen.columns]?.name ?? ''];
  return html`<${Bar} ...${{ axes, chosen, setChosen, cells, page, setPage, size, setSize }}>
      <${SaveSheet} ...${{ table, picks, cells, bestIn, heads }} page=${cells.pages[page] ?? ''} />
    <//>
    <div id="grid" ref=${box} style=${{ '--side': `${side}px` }}>
      <table>
        <thead><tr><td class="note">${heads[0]} ↓ · ${heads[1]} →</td>${cells.columns.map(head('col'))}</tr></thead>
        <tbody>
          ${cells.lines.map((value, line) => html`<tr key=${value}>${head('row')(value)}${cells.columns.map((_, column) => cell(line, column))}</tr>`)}
        </tbody>
      </table>
    </div>`;
}

/** The best of its rows; its picture is drawn when it is near the window. */
function Cell({ line, column, row, many, source, side, tabindex, onOpen, onFocus, press }) {
  const box = useRef();
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const options = /** @type {IntersectionObserverInit} */ ({ rootMargin: '300px', scrollMargin: '300px' });
    const watching = new IntersectionObserver(
      (entries) => setNear(entries.at(-1)?.isIntersecting ?? false),
      options,
    );
    watching.observe(box.current);
    return () => watching.disconnect();
  }, []);
  const key = row === undefined ? '' : (source.table.key[row] ?? '');
  const click = (event) => {
    event.preventDefault();
    onOpen();
  };
  const frame = html`<${Frame} ...${{ source, row }} width=${side} height=${side} />`;
  const name = html`<span class="hidden">${row !== undefined && source.table.title(row)}</span>`;
  return html`<a ref=${box} class="card ${source.picks.of(key).mark ?? ''}" data-cell="${line},${column}" tabindex=${tabindex}
    href="#${encodeURIComponent(key)}"
    onFocus=${onFocus} onClick=${click} onKeyDown=${(event) => press(event, line, column)}>
    ${row === undefined ? '–' : isNear ? frame : name}
    ${many > 1 && html`<span class="pill badge more" aria-hidden="true">${count(many)} rows</span>`}
  </a>`;
}

/** What the axes are, which page is shown, and how large. */
function Bar({ axes, chosen, setChosen, cells: { pages }, page, setPage, size, setSize, children }) {
  const choose = (axis, to) => {
    const other = Object.keys(chosen).find((one) => one !== axis && chosen[one] === to);
    // The axis that had it takes the one that is free.
    setChosen({ ...chosen, ...(other && to >= 0 ? { [other]: chosen[axis] } : {}), [axis]: to });
    setPage(0);
  };
  const names = axes.map(({ name, values }, nth) => [`${nth}`, `${name} (${count(values.size)})`]);
  const axis = (which, label, options) => {
    const own = {
      id: `grid-${which}`,
      label,
      options,
      value: `${chosen[which]}`,
      onValue: (to) => choose(which, Number(to)),
    };
    return html`<label class="note">${label} <${Choices} ...${own} /></label>`;
  };
  const step = (of, text, to, most, set) =>
    html`<${Button} of=${of} disabled=${to < 0 || to >= most} onClick=${() => set(to)}>${text}<//>`;
  const options = pages.map((value, nth) => [`${nth}`, valueText(value).slice(0, 60)]);
  const own = { id: 'grid-page', label: axes[chosen.pages]?.name ?? '', options, value: `${page}` };
  const turner = html`<span class="wrap" role="group" aria-label="Page">
    ${step('Previous page', '‹', page - 1, pages.length, setPage)}
    <${Choices} ...${own} onValue=${(to) => setPage(Number(to))} />
    ${step('Next page', '›', page + 1, pages.length, setPage)}
  </span>`;
  return html`<div id="grid-bar" class="wrap">
    ${axis('lines', 'Down', names)} ${axis('columns', 'Across', names)}
    ${axes.length > 2 && axis('pages', 'Pages', [['-1', 'none'], ...names])} ${pages.length > 1 && turner}
    <span class="wrap" role="group" aria-label="Size">
      ${step('Smaller', '−', size - 1, SIZES.length, setSize)} ${step('Larger', '+', size + 1, SIZES.length, setSize)}
    </span>
    ${children}
  </div>`;
}
