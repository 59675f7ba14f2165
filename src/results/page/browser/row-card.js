// The card of a row: its file, its key, and as much about it as the density leaves room for.

import { html, Terms } from './parts.js';
import { NoPicture, SmallFile } from './files.js';
import { pickText } from './picks.js';

/** @import { Table } from './all-rows.js' */
/** @import { Picks } from './picks.js' */
/** @import { ReadDetail } from './data.js' */
/** @import { Cell } from './gallery.js' */

/** From contact sheet to one a line: what a cell of the gallery measures. */
export const DENSITIES = /** @type {const} */ ([
  { name: 'Contact sheet', least: 104, gap: 6, caption: 0, ratio: 1 },
  { name: 'Small', least: 160, gap: 14, caption: 64, ratio: 1 },
  { name: 'Large', least: 300, gap: 28, caption: 96, ratio: 0.9 },
  { name: 'One a line', least: Infinity, gap: 1, caption: 188, ratio: 0 },
]);

/** The picture of a row that has its own line. */
const LINE_PICTURE = 168;
/** Pixels of a card that shows the small copy, whose longest side has 320. */
const SMALL_COPY_MOST = 400;

/** @typedef {{ table: Table, picks: Picks, read: ReadDetail }} Source */

/** @type {(density: number, room: number) => Cell} */
export function cellIn(density, room) {
  const { least, gap, caption, ratio } = DENSITIES[density] ?? DENSITIES[0];
  const columns = Math.max(1, Math.floor((room + gap) / (least + gap)));
  const width = Math.floor((room - gap * (columns - 1)) / columns);
  const height = Math.round(width * ratio) + caption;
  return { density, columns, width, height, gap, line: height + gap };
}

/** What a screen reader says of a row. @type {(source: Source, row: number) => string} */
function labelOf({ table, picks }, row) {
  const { mark, stars } = picks.of(table.key[row] ?? '');
  const outcome = table.outcomeName(row);
  const pick = `${mark ? `, ${mark}` : ''}${stars ? `, ${stars} of 5 stars` : ''}`;
  return `${table.title(row)}, ${outcome === 'open' ? 'not done yet' : outcome}${pick}`;
}

/** @param {{ source: Source, row: number, cell: Cell }} props */
export function RowCard({ source, row, cell: { density = 0, width, height } }) {
  const { table } = source;
  const facts = html`<span class="facts clamp">${table.factsText(row)}</span>`;
  const prompt = html`<span class="prompt clamp">${table.caption(row)}</span>`;
  if (density === 3) {
    const cells = table.facts.columns.flatMap((name, column) => {
      const cell = table.cells[column]?.[row] ?? '';
      const isShown = cell !== '' && cell !== table.key[row] && column !== table.captionColumn;
      return isShown ? [/** @type {const} */ ([name, cell])] : [];
    });
    return html`<${Frame} ...${{ source, row }} width=${Math.min(LINE_PICTURE, width * 0.36)} height=${LINE_PICTURE} />
      <div class="line-text"><b>${table.title(row)}</b>${facts}${prompt}<${Terms} name="cells wrap note" entries=${cells} /></div>`;
  }
  const caption = DENSITIES[density]?.caption ?? 0;
  const title = html`<b class="clip">${table.title(row)}</b>`;
  return html`<${Frame} ...${{ source, row, width }} height=${height - caption} />
    ${caption > 0 && html`<div class="caption">${title}${density > 1 && prompt}${facts}</div>`}`;
}

/** The picture of a row, and what the viewer chose. @param {{ source: Source, row: number, width: number, height: number }} props */
export function Frame({ source, row, width, height }) {
  const { table, picks } = source;
  const files = table.of.files[row] ?? 0;
  const pick = pickText(picks.of(table.key[row] ?? ''));
  return html`<div class="frame" style=${{ width: `${width}px`, height: `${height}px` }}>
    <${Picture} ...${{ source, row, width, height }} />
    ${pick && html`<span class="pill badge">${pick}</span>`}
    ${files > 1 && html`<span class="pill badge files" aria-hidden="true">${files}</span>`}
  </div>`;
}

/** @param {{ source: Source, row: number, width: number, height: number }} props */
function Picture({ source, row, width, height }) {
  const { table } = source;
  const path = table.file[row] ?? '';
  const outcome = table.outcomeName(row);
  if (path === '')
    return html`<${NoPicture} outcome=${outcome} text=${outcome === 'open' ? '' : table.reason[row]} />`;
  const isSmall = Math.max(width, height) * Math.min(2, devicePixelRatio) <= SMALL_COPY_MOST;
  // `runsheet open` makes it.
  const copy = `report/small/${path.replace(/^outputs\//, '')}.webp`;
  const label = labelOf(source, row);
  return html`<${SmallFile} ...${{ path, label }} small=${isSmall && table.small[row] ? copy : undefined} />`;
}
