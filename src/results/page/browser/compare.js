// The page of a comparison: head, filters, the pairs, and what only one of the batches has.

import { drawChips, drawChoices, drawFacts, drawSearch, makeSearch } from './controls.js';
import { at, make } from './dom.js';
import { count, factsText, joined, money, plural, span } from './text.js';
import { reportOf, sideMark } from './pair-card.js';
import { PairGrid } from './pair-grid.js';
import { arranged, ORDERS, readPairs, SHOWN, SIDES } from './pair-list.js';
import { PairView } from './pair-view.js';

/** @import { PairWish } from './pair-list.js' */
/** @import { ComparisonFacts, ShownPair, ShownSingle } from '../comparison-page.ts' */

const ONLY_SHOWN = 200;

/** @type {ComparisonFacts} */
const facts = JSON.parse(at('data').textContent ?? '');

/** @param {ComparisonFacts} given */
function drawHead({ a, b, sums, verdict, unmeasured }) {
  const { pairs, identical, outcome_differs, measured, run_seconds, cost_usd, only } = sums;
  at('source').textContent =
    `${plural(pairs, 'pair')} · ${a.sheet}${a.sheet === b.sheet ? '' : ` and ${b.sheet}`}`;
  at('sentence').textContent = joined([verdict, unmeasured], '. ');
  at('sides').replaceChildren(
    ...SIDES.map((side) =>
      make(
        'p.wrap',
        sideMark(side),
        make('a', { href: `${facts[side].base}report.html` }, make('b', facts[side].batch)),
        make('span.note', joined([facts[side].deployment, sums.gpu[side]])),
      ),
    ),
  );
  /** @type {(name: string, both: { a: number, b: number }, text: (value: number) => string) => [string, string, string]} */
  const change = (name, both, text) => [
    `${name} A → B`,
    measured === 0 ? 'not measured' : `${text(both.a)} → ${text(both.b)}`,
    `of ${plural(measured, 'pair')} with times in both`,
  ];
  drawFacts([
    ['Pairs', count(pairs), `${count(identical)} identical`],
    ['Outcome differs', count(outcome_differs)],
    change('Run time', run_seconds, span),
    change('Cost', cost_usd, money),
    ['Only in A, only in B', `${count(only.a)}, ${count(only.b)}`],
  ]);
}

/** @param {readonly ShownSingle[]} only */
function drawOnly(only) {
  at('only').hidden = only.length === 0;
  at('only').replaceChildren(
    ...SIDES.map((side) => {
      const rows = only.filter((one) => one.side === side);
      const rest = rows.length - ONLY_SHOWN;
      return make(
        'div',
        { hidden: rows.length === 0 },
        make('h2.wrap', `${plural(rows.length, 'row')} only in `, sideMark(side)),
        make(
          'ul.lined',
          rows
            .slice(0, ONLY_SHOWN)
            .map((one) =>
              make(
                'li.wrap',
                make('a', { href: reportOf(facts, side, one.key) }, make('b', one.key)),
                make('span.note', factsText(one)),
              ),
            ),
        ),
        rest > 0 && make('p.note', `and ${plural(rest, 'other row')}`),
      );
    }),
  );
}

/** @param {readonly ShownPair[]} pairs */
function start(pairs) {
  /** @type {PairWish} */
  let wish = { show: '', text: '', sort: 'change' };
  const grid = new PairGrid(facts, (place) => view.open(place));
  const view = new PairView(
    facts,
    () => grid.order,
    (place) => grid.focus(place),
  );
  const change = (/** @type {Partial<PairWish>} */ wanted) => {
    wish = { ...wish, ...wanted };
    grid.show(arranged(pairs, wish));
    const shown = grid.order.length;
    at('nothing').hidden = shown > 0;
    at('count').textContent =
      shown === pairs.length ? '' : `${count(shown)} of ${plural(pairs.length, 'pair')}`;
    drawSearch(wish.text);
    drawChips(
      Object.entries(SHOWN).flatMap(([show, { label, is }]) => {
        const many = pairs.filter(is).length;
        return many === 0 && show !== wish.show ? [] : [/** @type {const} */ ([show, label, many])];
      }),
      wish.show,
      (show) => change({ show }),
    );
    drawChoices(
      'sort',
      Object.entries(ORDERS).map(([name, { label }]) => [name, label]),
      wish.sort,
      (sort) => change({ sort }),
    );
  };
  makeSearch((text) => change({ text }));
  at('reset').onclick = () => change({ show: '', text: '' });
  change({});
  const openNamed = () => {
    const place = grid.order.findIndex(({ key }) => `#${encodeURIComponent(key)}` === location.hash);
    if (place >= 0) view.open(place);
  };
  addEventListener('hashchange', openNamed);
  openNamed();
}

drawHead(facts);
void readPairs().then(({ pairs, only }) => {
  drawOnly(only);
  start(pairs);
  document.documentElement.dataset['ready'] = '';
});
