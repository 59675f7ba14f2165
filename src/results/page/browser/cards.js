// The card of a row: its file, its key, and as much about it as the density leaves room for.

import { make, termList } from './dom.js';
import { factsText } from './text.js';
import { noPicture, smallView } from './media.js';

/** @import { Table } from './table.js' */
/** @import { Picks } from './picks.js' */
/** @import { ReadDetail } from './details.js' */

/** From contact sheet to one a line: what a cell of the gallery measures. Its icon: how many, across, wide, high. */
export const DENSITIES = /** @type {const} */ ([
  { name: 'Contact sheet', icon: [9, 3, 4, 4], least: 104, gap: 6, caption: 0, ratio: 1 },
  { name: 'Small', icon: [4, 2, 7, 7], least: 164, gap: 14, caption: 46, ratio: 1 },
  { name: 'Large', icon: [1, 1, 16, 14], least: 300, gap: 28, caption: 92, ratio: 0.9 },
  { name: 'One a line', icon: [3, 1, 16, 3], least: 0, gap: 0, caption: 0, ratio: 0 },
]);

/** The height of a row, and the width of its picture, where each has its own line. */
export const LINE_HEIGHT = 188;
const LINE_PICTURE = 168;
/** Pixels of a card that shows the small copy, whose longest side has 320. */
const SMALL_COPY_MOST = 400;

/** @typedef {{ table: Table, picks: Picks, read: ReadDetail }} Source */

/** @type {(source: Source, row: number, density: number, width: number, height: number) => HTMLAnchorElement} */
export function cardOf(source, row, density, width, height) {
  const { table, picks } = source;
  const key = table.title(row);
  const outcome = table.outcomeName(row);
  const { mark, stars = 0 } = picks.of(key);
  const isLine = density === 3;
  const frameWidth = isLine ? Math.min(LINE_PICTURE, width * 0.36) : width;
  const frameHeight = isLine ? LINE_PICTURE : height - (DENSITIES[density]?.caption ?? 0);
  const files = table.of.files[row] ?? 0;
  const badge = mark === 'rejected' ? '✕' : '★'.repeat(stars) || (mark && '✓');
  return make(
    `a.card.${mark ?? ''}`,
    {
      href: `#${encodeURIComponent(key)}`,
      'aria-label': `${key}, ${outcome}`,
      'data-row': row,
    },
    make(
      'div.frame',
      { style: { width: `${frameWidth}px`, height: `${frameHeight}px` } },
      pictureOf(table, row, frameWidth, frameHeight),
      badge && make('span.pill.badge', { title: mark ?? `${stars} of 5` }, badge),
      files > 1 && !isLine && make('span.pill.badge.files', `${files}`),
    ),
    isLine
      ? lineOf(source, row, Math.floor((width - frameWidth) / 200))
      : density > 0 &&
          make(
            'div.caption',
            make('b.clip', table.title(row)),
            density > 1 && make('span.prompt.clamp', table.caption(row)),
            make('span.facts.clip', factsOf(table, row)),
          ),
  );
}

/** @type {(table: Table, row: number, width: number, height: number) => HTMLElement} */
function pictureOf(table, row, width, height) {
  const file = table.file[row] ?? '';
  const outcome = table.outcomeName(row);
  if (file === '') return noPicture(outcome, outcome === 'open' ? '' : table.reason[row] || outcome);
  const isSmall = Math.max(width, height) * Math.min(2, devicePixelRatio) <= SMALL_COPY_MOST;
  // `runsheet open` makes it.
  const small = `report/small/${file.replace(/^outputs\//, '')}.webp`;
  const label = `${table.key[row] ?? ''}: ${table.caption(row)}`;
  return smallView(file, width, height, label, isSmall && table.small[row] ? small : undefined);
}

/** @type {(table: Table, row: number) => string} */
export const factsOf = (table, row) =>
  factsText({
    outcome: table.outcomeName(row),
    gpu: table.gpuName(row),
    seconds: table.of.seconds[row] ?? 0,
    cost: table.of.cost[row] ?? 0,
    attempts: table.of.tries[row] ?? 0,
  });

/** The rest of a line: all files of the row if it has several (`room`: how many more pictures fit), and its cells.
 * @type {(source: Source, row: number, room: number) => HTMLElement[]}
 */
function lineOf({ table, read }, row, room) {
  const cells = table.facts.columns.flatMap((name, column) => {
    const cell = table.cells[column]?.[row] ?? '';
    const isShown = cell !== '' && cell !== table.key[row] && column !== table.captionColumn;
    return isShown ? [/** @type {const} */ ([name, cell])] : [];
  });
  const more = make('div.wrap');
  if ((table.of.files[row] ?? 0) > 1 && room > 2)
    void read(row).then((detail) => {
      const style = { width: '110px', height: '110px' };
      for (const { path } of detail?.files.slice(1, Math.min(5, room - 1)) ?? [])
        more.append(make('div.frame', { style }, smallView(path, 110, 110, path)));
    });
  return [
    make(
      'div.line-text',
      make('div.wrap', make('b', table.title(row)), make('span.facts', factsOf(table, row))),
      make('p.prompt.clamp', table.caption(row)),
      termList('cells.wrap', cells),
    ),
    more,
  ];
}
