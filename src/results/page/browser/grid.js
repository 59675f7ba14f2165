// The rows of a batch as a grid of two columns of few values: prompts against seeds, models against styles. A third column gives pages.

import { Button, Choices, html, save, useMemo, useRef, useState } from './parts.js';
import { fewValues, valueText } from './arrange.js';
import { kindOf, loaded } from './files.js';
import { CardLink } from './gallery.js';
import { choiceOf, pickText } from './picks.js';
import { Frame } from './row-card.js';
import { count, joined } from './text.js';

/** @import { FewValues } from './arrange.js' */
/** @import { Picks } from './picks.js' */
/** @import { Source } from './row-card.js' */
/** @import { Table } from './all-rows.js' */

/** Which axis; -1: none. @typedef {{ lines: number, columns: number, pages: number }} Chosen */
/** Their values, and the rows of a cell. @typedef {{ lines: string[], columns: string[], pages: string[], rows: (line: number, column: number) => readonly number[] }} Cells */

/** @typedef {CanvasImageSource & { width: number, height: number }} Picture */
/** @typedef {(path: string) => Promise<Picture | undefined>} ReadPicture */
/** @typedef {{ table: Table, picks: Picks, cells: Cells, page: string, bestIn: (line: number, column: number) => number | undefined, heads: readonly string[] }} SheetProps */

const VALUES_MOST = 200;
const SIZES = [72, 104, 152, 224, 320];
/** Pixels: of a cell at most, of the whole picture, between cells, of the heads. */
const SIDE_MOST = 320;
const AREA_MOST = 60_000_000;
const LENGTH_MOST = 14_000;
const GAP = 8;
const HEAD = { left: 220, top: 108, title: 44 };
const INK = '#1c1c1a';
const WHY =
  'The browser asks for the folder of the batch, because a page of a folder may not read pictures; nothing leaves this machine';

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
  const valuesOf = (row) => wanted.map((axis) => (axis ? table.cells[axis.column]?.[row] : ''));
  const found = Map.groupBy(table.of.outcome.keys(), (row) => valuesOf(row).join('\n'));
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
    const [row, name] = [bestIn(line, column), `${line},${column}`];
    const many = cells.rows(line, column).length;
    const key = row === undefined ? '' : (table.key[row] ?? '');
    const onOpen = () => row !== undefined && open({ order, place: order.indexOf(row), attempt: 0 });
    return html`<td key=${column}><${CardLink} name=${picks.of(key).mark ?? ''} data-cell=${name}
      href="#${encodeURIComponent(key)}" tabindex=${focused === name ? 0 : -1} onOpen=${onOpen}
      onFocus=${() => setFocused(name)} onKey=${(event) => press(event, line, column)}>
      ${row === undefined ? '–' : html`<${Frame} ...${{ source, row }} width=${side} height=${side} />`}
      ${many > 1 && html`<span class="pill badge more" aria-hidden="true">${count(many)} rows</span>`}
    <//></td>`;
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

/** What the axes are, which page is shown, and how large. */
function Bar({ axes, chosen, setChosen, cells: { pages }, page, setPage, size, setSize, children }) {
  const choose = (axis, to) => {
    const other = Object.keys(chosen).find((one) => one !== axis && chosen[one] === to);
    // The axis that had it takes the one that is free.
    setChosen({ ...chosen, ...(other && to >= 0 ? { [other]: chosen[axis] } : {}), [axis]: to });
    setPage(0);
  };
  const names = axes.map(({ name, values }, nth) => [`${nth}`, `${name} (${count(values.size)})`]);
  const axis = (which, label, options) =>
    html`<label class="note">${label} <${Choices} id="grid-${which}" ...${{ label, options }}
      value="${chosen[which]}" onValue=${(to) => choose(which, Number(to))} /></label>`;
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

/** A page of the grid as one picture, for sending. A browser lets no page read the pictures beside it when it was opened from a folder;
 * its viewer gives it the folder then. @param {SheetProps} props
 */
function SaveSheet(props) {
  const input = useRef();
  const [said, say] = useState('');
  const isFolder = location.protocol === 'file:';
  const make = async (read) => {
    say('Drawing…');
    const blob = await draw(props, read).catch(() => undefined);
    if (blob !== undefined) save(`${props.table.facts.batch}-grid.png`, blob);
    say(blob === undefined ? 'The picture could not be made' : '');
  };
  const chosen = () => {
    const files = new Map([...input.current.files].map((file) => [file.name, file]));
    return make(async (path) => {
      const file = files.get(path.split('/').at(-1));
      return file && createImageBitmap(file);
    });
  };
  const start = () => (isFolder ? input.current.click() : void make(loaded));
  const folder = html`<input type="file" hidden ref=${input} webkitdirectory multiple onChange=${chosen} />`;
  return html`<${Button} id="save-sheet" title=${isFolder ? WHY : ''} onClick=${start}>Save as picture<//>
    ${isFolder && folder}<span class="note" role="status">${said}</span>`;
}

/** @type {(props: SheetProps, read: ReadPicture) => Promise<Blob | undefined>} */
async function draw({ table, picks, cells: { lines, columns }, page, bestIn, heads }, read) {
  const fit = Math.min(
    Math.sqrt(AREA_MOST / (columns.length * lines.length)),
    LENGTH_MOST / Math.max(columns.length, lines.length),
  );
  const side = Math.floor(Math.min(SIDE_MOST, fit - GAP));
  const left = (column) => HEAD.left + column * (side + GAP);
  const top = (line) => HEAD.top + line * (side + GAP);
  const [width, height] = [left(columns.length), top(lines.length)];
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  if (context === null) return undefined;
  const box = (colour, x, y, w, h) => {
    context.fillStyle = colour;
    context.fillRect(x, y, w, h);
    context.fillStyle = INK;
  };
  const text = write.bind(undefined, context);
  box('#fff', 0, 0, width, height);
  context.font = '600 20px system-ui, sans-serif';
  text(joined([table.facts.batch, joined(heads, ' × '), page]), 12, 30, width - 24, 1);
  context.font = '15px system-ui, sans-serif';
  for (const [column, value] of columns.entries())
    text(valueText(value), left(column), HEAD.title + 20, side, 2);
  for (const [line, value] of lines.entries()) {
    text(valueText(value), 12, top(line) + 18, HEAD.left - 24, Math.max(1, Math.floor(side / 20)));
    for (const column of columns.keys()) {
      const [row, x, y] = [bestIn(line, column), left(column), top(line)];
      box('#f2f2ef', x, y, side, side);
      if (row === undefined) continue;
      const path = table.file[row] ?? '';
      const picture = kindOf(path) === 'picture' ? await read(path).catch(() => undefined) : undefined;
      if (picture === undefined)
        text(table.reason[row] || table.outcomeName(row), x + 8, y + 22, side - 16, 4);
      else place(context, picture, x, y, side);
      const pick = pickText(picks.of(table.key[row] ?? ''));
      if (pick === '') continue;
      box('#fff', x, y + side - 26, context.measureText(pick).width + 14, 26);
      context.fillText(pick, x + 7, y + side - 8);
    }
  }
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), 'image/png'));
}

/** @type {(context: CanvasRenderingContext2D, picture: Picture, x: number, y: number, side: number) => void} */
function place(context, picture, x, y, side) {
  const scale = side / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, x + (side - width) / 2, y + (side - height) / 2, width, height);
}

/** Words in lines of a width; what does not fit is cut. @type {(context: CanvasRenderingContext2D, words: string, x: number, y: number, width: number, most: number) => void} */
function write(context, words, x, y, width, most) {
  const lines = /** @type {string[]} */ ([]);
  for (const word of words.slice(0, 400).match(/\S{1,20}/g) ?? []) {
    const longer = `${lines.at(-1)} ${word}`;
    const fits = lines.length > 0 && context.measureText(longer).width <= width;
    if (fits) lines.pop();
    lines.push(fits ? longer : word);
  }
  for (const [nth, line] of lines.slice(0, most).entries()) {
    const isCut = nth === most - 1 && lines.length > most;
    context.fillText(isCut ? `${line}…` : line, x, y + nth * 19, width);
  }
}
