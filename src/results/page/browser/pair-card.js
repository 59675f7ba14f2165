// The card of a pair: both files beside each other, what each took, and the inputs that differ.

import { make, termList } from './dom.js';
import { factsText } from './text.js';
import { noPicture, smallView } from './media.js';
import { SIDES } from './pair-list.js';

/** @import { Side } from '../../compare/compared-pair.ts' */
/** @import { ComparisonFacts, ShownHalf, ShownPair } from '../comparison-page.ts' */

const CHANGES_SHOWN = 3;

/** @param {Side} side */
export const sideMark = (side) => make(`span.mark.mark-${side}`, side.toUpperCase());

/** The address of a row in the report of its batch. @type {(facts: ComparisonFacts, side: Side, key: string) => string} */
export const reportOf = (facts, side, key) => `${facts[side].base}report.html#${encodeURIComponent(key)}`;

/** @type {(facts: ComparisonFacts, side: Side, half: ShownHalf, nth?: number) => string | undefined} */
export function addressOf(facts, side, half, nth = 0) {
  const file = half.files[nth];
  return file === undefined ? undefined : facts[side].base + file.path;
}

/** @param {ShownPair} pair */
export function pairBadge({ a, b, same }) {
  if (a.outcome !== b.outcome) return make('span.pill.unknown', 'outcome differs');
  return same && make('span.pill', 'identical');
}

/** The card without its pictures, which {@link fillCard} draws when it is near the window. @param {ShownPair} pair */
export function cardOfPair(pair) {
  const { key, a, b, same } = pair;
  const label = `${key}: A ${a.outcome}, B ${b.outcome}${same ? ', identical' : ''}`;
  return make(
    'a.pair',
    { href: `#${encodeURIComponent(key)}`, 'aria-label': label },
    make('div.pair-head.wrap', make('b.clip', key), pairBadge(pair)),
    make(
      'div.halves',
      SIDES.map((side) =>
        make(
          'figure',
          make('div.frame'),
          make('figcaption.facts.wrap', sideMark(side), factsText(pair[side])),
        ),
      ),
    ),
    changeList(pair, CHANGES_SHOWN),
  );
}

/** @type {(pair: ShownPair, most: number) => HTMLElement} */
export function changeList({ changes }, most) {
  const shown = changes
    .slice(0, most)
    .map(
      ([input, a, b]) =>
        /** @type {const} */ ([input, make('del', a || '(none)'), ' → ', make('ins', b || '(none)')]),
    );
  const list = termList('changes.lined', shown);
  list.hidden = changes.length === 0;
  if (changes.length > most) list.append(make('div.note', `and ${changes.length - most} more`));
  return list;
}

/** Without a pair, the pictures go. @type {(card: Element, pair: ShownPair | undefined, facts: ComparisonFacts) => void} */
export function fillCard(card, pair, facts) {
  for (const [nth, frame] of [...card.querySelectorAll('.frame')].entries()) {
    frame.replaceChildren();
    if (pair === undefined) continue;
    const side = SIDES[nth] ?? 'a';
    const half = pair[side];
    const path = addressOf(facts, side, half);
    const label = `${side.toUpperCase()}: ${pair.key}`;
    frame.append(
      path === undefined ? noFile(half) : smallView(path, frame.clientWidth, frame.clientHeight, label),
    );
    if (half.files.length > 1) frame.append(make('span.pill.badge.files', `${half.files.length}`));
  }
}

/** @param {ShownHalf} half */
export function noFile({ outcome, reason, texts: [text] }) {
  const isGood = outcome === 'succeeded';
  return noPicture(isGood ? '' : outcome, reason || (text ?? (isGood ? 'no file' : '')));
}
