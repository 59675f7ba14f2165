// Cards of very many rows or pairs. Only cards near the viewport are in the DOM; spacers stand in for the others. Browsers
// limit the height of an element, so cards are shown in blocks.

import type { AnchorHTMLAttributes, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState, type MutableRef } from 'preact/hooks';
import { Button, useWidth, useWindow, type Children } from './view-parts.tsx';
import { count } from '../../../options/text/printed-numbers.ts';

/** `line`: from one line to the next. */
export type Cell = {
  density?: number;
  columns: number;
  width: number;
  height: number;
  gap: number;
  line: number;
};
export type Card = { id: number; class: string; href: string; content: Children };
/** Lets the owner of a gallery scroll it to a place. */
export type GalleryPort = { reveal: (place: number) => void };

const BLOCK = 10_000;

type GalleryProps = {
  class: string;
  length: number;
  cellOf: (room: number) => Cell;
  draw: (place: number, cell: Cell) => Card;
  /** Where the row with an id is now. */
  placeOf: (id: number) => number;
  onOpen: (place: number) => void;
  /** Says whether the key did something. */
  onKey?: (place: number, key: string) => boolean;
  port: MutableRef<GalleryPort | undefined>;
  /** Grows when rows were added. */
  version: number;
  nothing: string;
  showAll: () => void;
};

export function Gallery(props: GalleryProps) {
  const { length, cellOf, draw, placeOf, onOpen, port, version } = props;
  const box = useRef<HTMLUListElement>(null);
  const room = useWidth(box);
  const [block, setBlock] = useState(0);
  const [focused, setFocused] = useState(0);
  const cell = cellOf(room);
  const start = block * BLOCK;
  const shown = Math.max(0, Math.min(BLOCK, length - start));
  const topOf = () => box.current?.getBoundingClientRect().top ?? 0;
  const [[first, last], look] = useVisibleLines(room, cell, topOf);
  const focus = useFocusOnceDrawn(box);
  const reveal = (place: number) => {
    setBlock(Math.floor(place / BLOCK));
    setFocused(place);
    focus(place);
    const top = topOf() + scrollY + Math.floor((place % BLOCK) / cell.columns) * cell.line;
    const isSeen = top >= scrollY + 120 && top <= scrollY + innerHeight - cell.height;
    if (!isSeen) scrollTo({ top: Math.max(0, top - innerHeight / 3) });
    look();
  };
  port.current = { reveal };
  const begin = first * cell.columns;
  const end = Math.min(shown, last * cell.columns);
  const idAt = (place: number) => (place < length ? draw(place, cell).id : -1);
  useSamePlace({ version, cell, place: start + begin, idAt, placeOf, isBelow: () => topOf() < 0 });
  const press = (event: KeyboardEvent, place: number) => {
    const { columns } = cell;
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -columns,
      ArrowDown: columns,
    };
    const by = steps[event.key];
    const ends: Record<string, number> = { Home: 0, End: length - 1 };
    const to = ends[event.key] ?? (by === undefined ? -1 : place + by);
    if (to >= 0 && to < length) reveal(to);
    else if (by === undefined && !props.onKey?.(place, event.key.toLowerCase())) return;
    event.preventDefault();
  };
  // The focused card may be far away; then the first one takes its place in the order of the tab key.
  const inTabs = focused >= start + begin && focused < start + end ? focused : start + begin;
  const cards = Array.from({ length: Math.max(0, end - begin) }, (_, nth) => {
    const place = start + begin + nth;
    const card = draw(place, cell);
    const own = { place, length, cell, card, onOpen, press, here: begin + nth };
    return <Item key={card.id} {...own} tabindex={place === inTabs ? 0 : -1} />;
  });
  const go = (to: number) => {
    setBlock(to);
    box.current?.scrollIntoView();
  };
  const height = Math.ceil(shown / cell.columns) * cell.line;
  return (
    <>
      <ul id="cards" class={props.class} ref={box} style={{ height: `${height}px` }}>
        {room > 0 && cards}
      </ul>
      <Blocks length={length} block={block} go={go} />
      {length === 0 && (
        <p id="nothing" class="wrap">
          {props.nothing} <Button onClick={props.showAll}>Show all</Button>
        </p>
      )}
    </>
  );
}

type VisibleLines = readonly [lines: readonly [first: number, last: number], look: () => void];

/** The lines of cards near the window, which change as the viewer scrolls. */
function useVisibleLines(room: number, cell: Cell, topOf: () => number): VisibleLines {
  const [lines, setLines] = useState<readonly [number, number]>([0, 0]);
  const look = () => {
    if (room === 0) return;
    const from = Math.max(0, Math.floor(-topOf() / cell.line - 0.5));
    const to = Math.ceil((innerHeight - topOf()) / cell.line + 0.5);
    setLines((seen) => (seen[0] === from && seen[1] === to ? seen : [from, to]));
  };
  useWindow(['scroll', 'resize'], () => void requestAnimationFrame(look));
  useLayoutEffect(look);
  return [lines, look];
}

/** Focuses the card at a place as soon as it is on the page. */
function useFocusOnceDrawn(box: RefObject<Element>): (place: number) => void {
  const wanted = useRef(-1);
  useLayoutEffect(() => {
    if (wanted.current < 0) return;
    const card = box.current?.querySelector<HTMLElement>(`[data-place="${wanted.current}"]`);
    if (!card) return;
    card.focus({ preventScroll: true });
    wanted.current = -1;
  });
  return (place) => {
    wanted.current = place;
  };
}

type CardLinkProps = AnchorHTMLAttributes & {
  class: string;
  href: string;
  onOpen: () => void;
  onKey: (event: KeyboardEvent) => void;
  children?: Children;
};

/** A card that opens its row and hears keys; those with a modifier are the browser's. */
export function CardLink({ class: classes, onOpen, onKey, children, ...attributes }: CardLinkProps) {
  const isOwn = ({ ctrlKey, metaKey, altKey }: MouseEvent | KeyboardEvent) => !(ctrlKey || metaKey || altKey);
  const click = (event: MouseEvent) => {
    if (!isOwn(event) || event.shiftKey) return;
    event.preventDefault();
    onOpen();
  };
  return (
    <a
      class={`card ${classes}`}
      {...attributes}
      onClick={click}
      onKeyDown={(event) => isOwn(event) && onKey(event)}
    >
      {children}
    </a>
  );
}

type ItemProps = {
  card: Card;
  /** In the block. */
  here: number;
  place: number;
  length: number;
  cell: Cell;
  tabindex: number;
  onOpen: (place: number) => void;
  press: (event: KeyboardEvent, place: number) => void;
};

function Item({ card, here, place, length, cell, tabindex, onOpen, press }: ItemProps) {
  const left = (here % cell.columns) * (cell.width + cell.gap);
  const transform = `translate(${left}px, ${Math.floor(here / cell.columns) * cell.line}px)`;
  const style = { width: `${cell.width}px`, height: `${cell.height}px`, transform };
  return (
    <li aria-posinset={place + 1} aria-setsize={length} style={style}>
      <CardLink
        class={card.class}
        href={card.href}
        tabindex={tabindex}
        data-place={place}
        data-row={card.id}
        onOpen={() => onOpen(place)}
        onKey={(event) => press(event, place)}
      >
        {card.content}
      </CardLink>
    </li>
  );
}

type SamePlace = {
  version: number;
  cell: Cell;
  place: number;
  idAt: (place: number) => number;
  placeOf: (id: number) => number;
  isBelow: () => boolean;
};

/** Rows that were added above the first one in the window do not move it. */
function useSamePlace({ version, cell, place, idAt, placeOf, isBelow }: SamePlace): void {
  const kept = useRef({ version, id: -1, line: 0, place: -1 });
  useLayoutEffect(() => {
    const { id, line, ...before } = kept.current;
    const now = version === before.version || id < 0 || !isBelow() ? -1 : placeOf(id);
    const lines = now < 0 ? 0 : Math.floor(now / cell.columns) - line;
    if (lines !== 0) scrollBy(0, lines * cell.line);
    // The kept row stays the same until the viewer scrolls: single rows move it by less than a line.
    const isKept = place === before.place && lines === 0 && id >= 0;
    kept.current = isKept
      ? { ...kept.current, version }
      : { version, id: idAt(place), line: Math.floor(place / cell.columns), place };
  });
}

type BlocksProps = { length: number; block: number; go: (block: number) => void };

function Blocks({ length, block, go }: BlocksProps) {
  const blocks = Math.ceil(length / BLOCK);
  if (blocks < 2) return null;
  const to = Math.min((block + 1) * BLOCK, length);
  return (
    <div id="blocks" class="wrap note">
      <Button disabled={block === 0} onClick={() => go(block - 1)}>
        Previous
      </Button>
      {count(block * BLOCK + 1)} to {count(to)} of {count(length)}
      <Button disabled={block + 1 === blocks} onClick={() => go(block + 1)}>
        Next
      </Button>
    </div>
  );
}
