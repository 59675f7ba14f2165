// The card of a row: its file, its key, and as much about it as the density leaves room for.

import { make } from './dom.js';
import { money, span } from './text.js';
import { smallView } from './media.js';

/** @import { Table } from './table.js' */
/** @import { Picks } from './picks.js' */
/** @import { ReadDetail } from './details.js' */

/**
 * What a cell of the gallery measures. The picture's frame is `width` less `side`, by `frame`.
 * @typedef {{ name: string, least: number, gap: number, caption: number, ratio: number }} Density
 */

/** From contact sheet to one a line.
 * @type {readonly Density[]}
 */
export const DENSITIES = [
  { name: 'Contact sheet', least: 104, gap: 6, caption: 0, ratio: 1 },
  { name: 'Small', least: 164, gap: 14, caption: 46, ratio: 1 },
  { name: 'Large', least: 300, gap: 28, caption: 92, ratio: 0.9 },
  { name: 'One a line', least: 0, gap: 0, caption: 0, ratio: 0 },
];

/** The height of a row, and the width of its picture, where each has its own line. */
export const LINE_HEIGHT = 188;
const LINE_PICTURE = 168;
/** Pixels of a card that shows the small copy, whose longest side has 320. */
const SMALL_COPY_MOST = 400;

/** @typedef {{ table: Table, picks: Picks, read: ReadDetail }} Source */

/**
 * @param {Source} source
 * @param {number} row
 * @param {number} density
 * @param {number} width
 * @param {number} height
 */
export function cardOf(source, row, density, width, height) {
  const { table, picks } = source;
  const key = table.title(row);
  const outcome = table.outcomeName(row);
  const { mark, stars = 0 } = picks.of(key);
  const card = make('a', {
    className: `card ${outcome} ${mark ?? ''}`,
    href: `#${encodeURIComponent(key)}`,
    'aria-label': `${key}, ${outcome}`,
  });
  card.dataset['row'] = String(row);
  const caption = DENSITIES[density]?.caption ?? 0;
  const isLine = density === 3;
  const frameWidth = isLine ? Math.min(LINE_PICTURE, width * 0.36) : width;
  const frameHeight = isLine ? LINE_PICTURE : height - caption;
  const frame = frameOf(source, row, frameWidth, frameHeight);
  const badge = badgeOf(mark, stars);
  if (badge !== undefined) frame.append(badge);
  const files = table.files[row] ?? 0;
  if (files > 1 && !isLine) frame.append(make('span', 'files', `${files}`));
  card.append(frame);
  if (isLine) card.append(lineOf(source, row, Math.floor((width - frameWidth) / 200)));
  else if (density > 0) card.append(captionOf(table, row, density));
  return card;
}

/**
 * @param {Source} source
 * @param {number} row
 * @param {number} width
 * @param {number} height
 */
function frameOf({ table }, row, width, height) {
  const frame = make('div', 'frame');
  frame.style.width = `${width}px`;
  frame.style.height = `${height}px`;
  const file = table.file[row] ?? '';
  const outcome = table.outcomeName(row);
  if (file !== '') {
    const isSmall = Math.max(width, height) * Math.min(2, devicePixelRatio) <= SMALL_COPY_MOST;
    const small = isSmall && table.small[row] ? smallCopyOf(file) : undefined;
    frame.append(smallView(file, Math.floor(width), Math.floor(height), labelOf(table, row), small));
  } else {
    const text = outcome === 'open' ? '' : table.reason[row] || outcome;
    frame.append(make('div', `no-picture ${outcome}`, make('b', '', outcome), make('span', '', text)));
  }
  return frame;
}

/** `runsheet open` makes it. @param {string} path */
const smallCopyOf = (path) => `report/small/${path.replace(/^outputs\//, '')}.webp`;

/**
 * @param {Table} table
 * @param {number} row
 */
const labelOf = (table, row) => `${table.key[row] ?? ''}: ${table.caption(row)}`;

/**
 * @param {'picked' | 'rejected' | undefined} mark
 * @param {number} stars
 */
function badgeOf(mark, stars) {
  if (mark === undefined && stars === 0) return undefined;
  const sign = mark === 'rejected' ? '✕' : '★'.repeat(stars) || '✓';
  return make('span', { className: 'badge', title: mark ?? `${stars} of 5` }, sign);
}

/**
 * @param {Table} table
 * @param {number} row
 * @param {number} density
 */
function captionOf(table, row, density) {
  const box = make('div', 'caption', make('b', '', table.title(row)));
  if (density === 1) box.append(make('span', 'facts', factsOf(table, row)));
  else box.append(make('span', 'prompt', table.caption(row)), make('span', 'facts', factsOf(table, row)));
  return box;
}

/**
 * @param {Table} table
 * @param {number} row
 */
export function factsOf(table, row) {
  const seconds = table.seconds[row] ?? 0;
  const cost = table.cost[row] ?? 0;
  const tries = table.tries[row] ?? 0;
  return [
    table.outcomeName(row) === 'succeeded' ? undefined : table.outcomeName(row),
    table.gpuName(row) || undefined,
    seconds > 0 ? span(seconds) : undefined,
    cost > 0 ? money(cost) : undefined,
    tries > 1 ? `${tries} attempts` : undefined,
  ]
    .filter(Boolean)
    .join(' · ');
}

/**
 * The rest of a line: all files of the row if it has several, and its cells.
 * @param {Source} source
 * @param {number} row
 * @param {number} room how many more pictures fit
 */
function lineOf({ table, read }, row, room) {
  const key = table.key[row] ?? '';
  const cells = make('dl', 'cells');
  for (const [at, name] of table.facts.columns.entries()) {
    const cell = table.cells[at]?.[row] ?? '';
    if (cell === '' || cell === key || at === table.captionColumn) continue;
    cells.append(make('div', '', make('dt', '', name), make('dd', '', cell)));
  }
  const head = make(
    'div',
    'line-head',
    make('b', '', table.title(row)),
    make('span', 'facts', factsOf(table, row)),
  );
  const more = make('div', 'more-files');
  if ((table.files[row] ?? 0) > 1 && room > 2)
    void read(row).then((detail) => {
      for (const { path } of detail?.files.slice(1, Math.min(5, room - 1)) ?? [])
        more.append(make('div', 'frame', smallView(path, 110, 110, path)));
    });
  const prompt = make('p', 'prompt', table.caption(row));
  return make('div', 'line', make('div', 'line-text', head, prompt, cells), more);
}
