// Cards of very many rows or pairs. Only those near the window are on the page; the others are room. Browsers limit the height of an
// element, so they are shown in blocks.

import { Button, html, useLayoutEffect, useRef, useState, useWidth, useWindow } from './parts.js';
import { count } from './text.js';

/** @import { Children } from './parts.js' */
/** `line`: from one line to the next. @typedef {{ density?: number, columns: number, width: number, height: number, gap: number, line: number }} Cell */
/** @typedef {{ id: number, name: string, href: string, content: Children }} Card */

const BLOCK = 10_000;

/**
 * `placeOf`: where the row with an id is now; `version`: grows when rows were added; `onKey`: says whether the key did something.
 * @param {{ length: number, cellOf: (room: number) => Cell, draw: (place: number, cell: Cell) => Card, [other: string]: any }} props
 */
export function Gallery({ length, cellOf, draw, placeOf, onOpen, onKey, port, name, version, ...rest }) {
  const box = useRef();
  const room = useWidth(box);
  const [block, setBlock] = useState(0);
  const [focused, setFocused] = useState(0);
  const [[first, last], setLines] = useState([0, 0]);
  const wanted = useRef(-1);
  const cell = cellOf(room);
  const start = block * BLOCK;
  const shown = Math.max(0, Math.min(BLOCK, length - start));
  const topOf = () => box.current?.getBoundingClientRect().top ?? 0;
  const look = () => {
    if (room === 0) return;
    const from = Math.max(0, Math.floor(-topOf() / cell.line - 0.5));
    const to = Math.ceil((innerHeight - topOf()) / cell.line + 0.5);
    setLines((known) => (known[0] === from && known[1] === to ? known : [from, to]));
  };
  useWindow(['scroll', 'resize'], () => requestAnimationFrame(look));
  useLayoutEffect(look);
  const reveal = (place) => {
    setBlock(Math.floor(place / BLOCK));
    setFocused(place);
    wanted.current = place;
    const top = topOf() + scrollY + Math.floor((place % BLOCK) / cell.columns) * cell.line;
    const isSeen = top >= scrollY + 120 && top <= scrollY + innerHeight - cell.height;
    if (!isSeen) scrollTo({ top: Math.max(0, top - innerHeight / 3) });
    look();
  };
  port.current = { reveal };
  useLayoutEffect(() => {
    const card = wanted.current < 0 ? null : box.current?.querySelector(`[data-place="${wanted.current}"]`);
    if (!card) return;
    card.focus({ preventScroll: true });
    wanted.current = -1;
  });
  const begin = first * cell.columns;
  const end = Math.min(shown, last * cell.columns);
  const idAt = (place) => (place < length ? draw(place, cell).id : -1);
  useSamePlace({ version, cell, place: start + begin, idAt, placeOf, isBelow: () => topOf() < 0 });
  const press = (event, place) => {
    const { columns } = cell;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    const to = { Home: 0, End: length - 1 }[event.key] ?? (by === undefined ? -1 : place + by);
    if (to >= 0 && to < length) reveal(to);
    else if (by === undefined && !onKey?.(place, event.key.toLowerCase())) return;
    event.preventDefault();
  };
  // The focused card may be far away; then the first one takes its place in the order of the tab key.
  const inTabs = focused >= start + begin && focused < start + end ? focused : start + begin;
  const cards = Array.from({ length: Math.max(0, end - begin) }, (_, nth) => {
    const place = start + begin + nth;
    const own = { place, length, cell, onOpen, press, tabindex: place === inTabs ? 0 : -1 };
    const card = draw(place, cell);
    return html`<${Item} key=${card.id} ...${own} card=${card} here=${begin + nth} />`;
  });
  const height = Math.ceil(shown / cell.columns) * cell.line;
  const go = (to) => {
    setBlock(to);
    box.current?.scrollIntoView();
  };
  return html`<ul id="cards" class=${name} ref=${box} style=${{ height: `${height}px` }}>${room > 0 && cards}</ul>
    <${Blocks} length=${length} block=${block} go=${go} />
    ${length === 0 && html`<p id="nothing" class="wrap">${rest.nothing} <${Button} onClick=${rest.showAll}>Show all<//></p>`}`;
}

/** A card that opens what it shows, and hears keys; those with a modifier are the browser's. @param {{ name: string, onOpen: () => void, onKey: (event: KeyboardEvent) => void, children?: Children, [other: string]: any }} props */
export function CardLink({ name, onOpen, onKey, children, ...rest }) {
  const isOwn = ({ ctrlKey, metaKey, altKey }) => !(ctrlKey || metaKey || altKey);
  const click = (event) => {
    if (!isOwn(event) || event.shiftKey) return;
    event.preventDefault();
    onOpen();
  };
  return html`<a class="card ${name}" ...${rest} onClick=${click} onKeyDown=${(event) => isOwn(event) && onKey(event)}>${children}</a>`;
}

/** `here`: in the block. */
function Item({ card: { id, name, href, content }, here, place, length, cell, tabindex, onOpen, press }) {
  const left = (here % cell.columns) * (cell.width + cell.gap);
  const transform = `translate(${left}px, ${Math.floor(here / cell.columns) * cell.line}px)`;
  const style = { width: `${cell.width}px`, height: `${cell.height}px`, transform };
  return html`<li aria-posinset=${place + 1} aria-setsize=${length} style=${style}>
    <${CardLink} ...${{ name, href, tabindex }} data-place=${place} data-row=${id}
      onOpen=${() => onOpen(place)} onKey=${(event) => press(event, place)}>${content}<//>
  </li>`;
}

/** Rows that were added above the first one in the window do not move it. @param {{ version: number, cell: Cell, place: number, idAt: (place: number) => number, placeOf: (id: number) => number, isBelow: () => boolean }} given */
function useSamePlace({ version, cell, place, idAt, placeOf, isBelow }) {
  const kept = useRef({ version, id: -1, line: 0, place: -1 });
  useLayoutEffect(() => {
    const { id, line, ...before } = kept.current;
    const now = version === before.version || id < 0 || !isBelow() ? -1 : placeOf(id);
    const lines = now < 0 ? 0 : Math.floor(now / cell.columns) - line;
    if (lines !== 0) scrollBy(0, lines * cell.line);
    // It stays the same one until the viewer scrolls: single rows move it by less than a line.
    const isKept = place === before.place && lines === 0 && id >= 0;
    kept.current = isKept
      ? { ...kept.current, version }
      : { version, id: idAt(place), line: Math.floor(place / cell.columns), place };
  });
}

/** @param {{ length: number, block: number, go: (block: number) => void }} props */
function Blocks({ length, block, go }) {
  const blocks = Math.ceil(length / BLOCK);
  if (blocks < 2) return null;
  const to = Math.min((block + 1) * BLOCK, length);
  return html`<div id="blocks" class="wrap note">
    <${Button} disabled=${block === 0} onClick=${() => go(block - 1)}>Previous<//>
    ${count(block * BLOCK + 1)} to ${count(to)} of ${count(length)}
    <${Button} disabled=${block + 1 === blocks} onClick=${() => go(block + 1)}>Next<//>
  </div>`;
}
