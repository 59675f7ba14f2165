// The card of a pair: both files beside each other, what each took, and the inputs that differ.

import { make } from './dom.js';
import { money, span } from './text.js';
import { smallView } from './media.js';
import { SIDES } from './pair-list.js';

/** @import { Facts, Half, Pair, Side } from './pair-list.js' */

const CHANGES_SHOWN = 3;

/** @param {Side} side */
export const sideMark = (side) => make('span', `mark mark-${side}`, side.toUpperCase());

/**
 * @param {Facts} facts
 * @param {Side} side
 * @param {Half} half
 * @param {number} [nth]
 */
export function addressOf(facts, side, half, nth = 0) {
  const file = half.files[nth];
  return file === undefined ? undefined : facts[side].base + file.path;
}

/** @param {Half} half */
export const halfFacts = ({ outcome, gpu, seconds, cost, attempts }) =>
  [
    outcome === 'succeeded' ? undefined : outcome,
    gpu || undefined,
    seconds > 0 ? span(seconds) : undefined,
    cost > 0 ? money(cost) : undefined,
    attempts > 1 ? `${attempts} attempts` : undefined,
  ]
    .filter(Boolean)
    .join(' · ');

/** @param {Pair} pair */
export function pairBadge({ a, b, same }) {
  if (a.outcome !== b.outcome) return make('span', 'pair-badge odd', 'outcome differs');
  if (same) return make('span', 'pair-badge', 'identical');
  return undefined;
}

/** The card without its pictures, which {@link fillCard} draws when it is near the window.
 * @param {Pair} pair
 */
export function cardOfPair(pair) {
  const card = make('a', {
    className: 'pair',
    href: `#${encodeURIComponent(pair.key)}`,
    'aria-label': `${pair.key}: A ${pair.a.outcome}, B ${pair.b.outcome}${pair.same ? ', identical' : ''}`,
  });
  card.append(
    make('div', 'pair-head', make('b', '', pair.key), pairBadge(pair)),
    make(
      'div',
      'halves',
      ...SIDES.map((side) =>
        make(
          'figure',
          '',
          make('div', 'frame'),
          make('figcaption', 'facts', sideMark(side), halfFacts(pair[side])),
        ),
      ),
    ),
    changeList(pair, CHANGES_SHOWN),
  );
  return card;
}

/**
 * @param {Pair} pair
 * @param {number} most
 */
export function changeList({ changes }, most) {
  const list = make('dl', { className: 'changes', hidden: changes.length === 0 });
  for (const [input, a, b] of changes.slice(0, most))
    list.append(
      make(
        'div',
        '',
        make('dt', '', input),
        make(
          'dd',
          '',
          make('del', '', a === '' ? '(none)' : a),
          ' → ',
          make('ins', '', b === '' ? '(none)' : b),
        ),
      ),
    );
  if (changes.length > most) list.append(make('div', 'note', `and ${changes.length - most} more`));
  return list;
}

/**
 * @param {Element} card
 * @param {Pair} pair
 * @param {Facts} facts
 */
export function fillCard(card, pair, facts) {
  for (const [at, frame] of [...card.querySelectorAll('.frame')].entries()) {
    const side = SIDES[at] ?? 'a';
    const half = pair[side];
    const path = addressOf(facts, side, half);
    const { clientWidth, clientHeight } = frame;
    frame.replaceChildren(
      path === undefined
        ? noFile(half)
        : smallView(path, clientWidth, clientHeight, `${side.toUpperCase()}: ${pair.key}`),
    );
    if (half.files.length > 1) frame.append(make('span', 'files', `${half.files.length}`));
  }
}

/** @param {Element} card */
export function emptyCard(card) {
  for (const frame of card.querySelectorAll('.frame')) frame.replaceChildren();
}

/** @param {Half} half */
export const noFile = ({ outcome, reason, texts }) =>
  make(
    'div',
    `no-picture ${outcome}`,
    make('b', '', outcome === 'succeeded' ? '' : outcome),
    make('span', '', reason || (texts[0] ?? (outcome === 'succeeded' ? 'no file' : ''))),
  );
