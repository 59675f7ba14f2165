// The pairs of a comparison: what the page carries, which of them are shown in which order, and the card of one.

import { html, Terms, toneOf } from './parts.js';
import { readColumns } from './data.js';
import { NoPicture, SmallFile } from './files.js';
import { count, factsText } from './text.js';

/** @import { Side } from '../../compare/compared-pair.ts' */
/** @import { ComparisonFacts, ShownHalf, ShownPair, ShownSingle } from '../comparison-page.ts' */
/** @import { Card, Cell } from './gallery.js' */
/** @typedef {{ show: string, text: string, sort: string }} PairWish */

/** @type {readonly Side[]} */
export const SIDES = ['a', 'b'];

/** @type {Readonly<Record<string, { label: string, is: (pair: ShownPair) => boolean }>>} */
export const SHOWN = {
  '': { label: 'All', is: () => true },
  differs: { label: 'Differs', is: (pair) => !pair.same },
  identical: { label: 'Identical', is: (pair) => pair.same },
  outcome: { label: 'Outcome differs', is: ({ a, b }) => a.outcome !== b.outcome },
  inputs: { label: 'Inputs differ', is: ({ changes }) => changes.length > 0 },
};

/** How often one value fits into the other; 1 if one is unknown. @type {(over: number, under: number) => number} */
const ratio = (over, under) => (over > 0 && under > 0 ? over / under : 1);

/** Largest first. @type {Readonly<Record<string, { label: string, of: (pair: ShownPair) => number }>>} */
export const ORDERS = {
  change: { label: 'Most changed first', of: ({ change }) => change },
  row: { label: 'Order of sheet A', of: ({ a }) => -a.row },
  faster: { label: 'B faster first', of: ({ a, b }) => ratio(a.seconds, b.seconds) },
  slower: { label: 'B slower first', of: ({ a, b }) => ratio(b.seconds, a.seconds) },
  dearer: { label: 'B dearer first', of: ({ a, b }) => ratio(b.cost, a.cost) },
};

/** @returns {Promise<{ pairs: ShownPair[], only: ShownSingle[] }>} */
export async function readPairs() {
  const columns = await readColumns();
  const read = (name) =>
    /** @type {string[]} */ (columns[name] ?? []).flatMap((line) => (line ? [JSON.parse(line)] : []));
  return { pairs: read('pairs'), only: read('only') };
}

/** @type {(pairs: readonly ShownPair[], wish: PairWish) => ShownPair[]} */
export function arranged(pairs, { show, text, sort }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const of = (ORDERS[sort] ?? ORDERS['change'])?.of ?? (() => 0);
  const isShown = SHOWN[show]?.is ?? (() => true);
  return pairs
    .filter((pair) => isShown(pair) && words.every((word) => textOf(pair).includes(word)))
    .sort((x, y) => of(y) - of(x) || x.a.row - y.a.row);
}

/** @param {ShownPair} pair */
const textOf = ({ key, a, b, changes, inputs }) =>
  [key, a.outcome, b.outcome, a.gpu, b.gpu, a.reason, b.reason, ...changes.flat(), ...inputs.flat()]
    .join('\n')
    .toLowerCase();

/** @param {{ side: Side }} props */
export const SideMark = ({ side }) => html`<span class="mark mark-${side}">${side.toUpperCase()}</span>`;

/** The address of a row in the report of its batch. @type {(facts: ComparisonFacts, side: Side, key: string) => string} */
export const reportOf = (facts, side, key) => `${facts[side].base}report.html#${encodeURIComponent(key)}`;

/** @type {(facts: ComparisonFacts, side: Side, half: ShownHalf, nth?: number) => string | undefined} */
export const addressOf = (facts, side, { files }, nth = 0) =>
  files[nth] && facts[side].base + files[nth].path;

/** @param {{ pair: ShownPair }} props */
export function PairBadge({ pair: { a, b, same } }) {
  if (a.outcome !== b.outcome)
    return html`<span class="pill" style=${toneOf('unknown')}>outcome differs</span>`;
  return same ? html`<span class="pill">identical</span>` : null;
}

/** @param {{ half: ShownHalf }} props */
export function NoFile({ half: { outcome, reason, texts } }) {
  const isGood = outcome === 'succeeded';
  return html`<${NoPicture} outcome=${isGood ? '' : outcome} text=${reason || (texts[0] ?? (isGood ? 'no file' : ''))} />`;
}

/** @param {{ pair: ShownPair, most: number, name?: string }} props */
export function Changes({ pair: { changes }, most, name = '' }) {
  const entries = changes
    .slice(0, most)
    .map(([input, a, b]) => [input, html`<del>${a || '(none)'}</del> → <ins>${b || '(none)'}</ins>`]);
  const more = changes.length - entries.length;
  return html`${entries.length > 0 && html`<${Terms} name="changes ${name}" entries=${entries} />`}
    ${more > 0 && html`<small>and ${count(more)} more</small>`}`;
}

/** What stands around the two pictures of a card. */
const AROUND = { head: 30, caption: 44, changes: 62 };
const CHANGES_SHOWN = 2;
const LEAST = 440;
const GAP = 36;

/** @type {(room: number) => Cell} */
export function cellIn(room) {
  const columns = Math.max(1, Math.floor((room + GAP) / (LEAST + GAP)));
  const width = Math.floor((room - GAP * (columns - 1)) / columns);
  const height = Math.min(260, Math.round(width / 2)) + AROUND.head + AROUND.caption + AROUND.changes;
  return { columns, width, height, gap: GAP, line: height + 20 };
}

/** @type {(facts: ComparisonFacts, pair: ShownPair, id: number, cell: Cell) => Card} */
export function drawPair(facts, pair, id, cell) {
  const height = cell.height - AROUND.head - AROUND.caption - AROUND.changes;
  const half = (side) => {
    const path = addressOf(facts, side, pair[side]);
    const label = `${side.toUpperCase()}: ${pair.key}`;
    const files = pair[side].files.length;
    return html`<figure key=${side}>
      <div class="frame" style=${{ height: `${height}px` }}>
        ${path === undefined ? html`<${NoFile} half=${pair[side]} />` : html`<${SmallFile} ...${{ path, label }} />`}
        ${files > 1 && html`<span class="pill badge files">${files}</span>`}
      </div>
      <figcaption class="facts clamp"><${SideMark} side=${side} /> ${factsText(pair[side])}</figcaption>
    </figure>`;
  };
  const content = html`<div class="pair-head wrap"><b class="clip">${pair.key}</b><${PairBadge} pair=${pair} /></div>
    <div class="halves">${SIDES.map(half)}</div>
    <${Changes} pair=${pair} most=${CHANGES_SHOWN} />`;
  return { id, name: 'pair', href: `#${encodeURIComponent(pair.key)}`, content };
}
