// The pairs of a comparison: what the page carries, and which of them are shown in which order.

import { readColumns } from './decode.js';

/** @import { Side } from '../../compare/compared-pair.ts' */
/** @import { ShownPair, ShownSingle } from '../comparison-page.ts' */
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

/** Largest first.
 * @type {Readonly<Record<string, { label: string, of: (pair: ShownPair) => number }>>}
 */
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
  const read = (/** @type {string} */ name) =>
    /** @type {string[]} */ (columns[name] ?? [])
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
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
