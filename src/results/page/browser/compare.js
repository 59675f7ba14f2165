// The page of a comparison: head, filters, the pairs, and what only one of the batches has.

import { at, button, make } from './dom.js';
import { count, money, plural, span } from './text.js';
import { halfFacts, sideMark } from './pair-card.js';
import { PairGrid } from './pair-grid.js';
import { arranged, ORDERS, readPairs, SHOWN, SIDES } from './pair-list.js';
import { PairView } from './pair-view.js';

/** @import { Facts, Pair, PairWish, Single } from './pair-list.js' */

const ONLY_SHOWN = 200;

/** @type {Facts} */
const facts = JSON.parse(at('data').textContent ?? '');

/** @param {Facts} given */
function drawHead({ a, b, sums, verdict, unmeasured }) {
  at('source').textContent =
    `${plural(sums.pairs, 'pair')} · ${a.sheet}${a.sheet === b.sheet ? '' : ` and ${b.sheet}`}`;
  at('sentence').textContent = [verdict, unmeasured].filter(Boolean).join('. ');
  at('sides').replaceChildren(
    ...SIDES.map((side) =>
      make(
        'p',
        '',
        sideMark(side),
        make('a', { href: `${facts[side].base}report.html` }, make('b', '', facts[side].batch)),
        make('span', 'note', [facts[side].deployment, sums.gpu[side]].filter(Boolean).join(' · ')),
      ),
    ),
  );
  /** @type {[string, string, string?][]} */
  const values = [
    ['Pairs', count(sums.pairs), `${count(sums.identical)} identical`],
    ['Outcome differs', count(sums.outcome_differs)],
    [
      'Run time A → B',
      sums.measured === 0 ? 'not measured' : `${span(sums.run_seconds.a)} → ${span(sums.run_seconds.b)}`,
      ofMeasured(sums.measured),
    ],
    [
      'Cost A → B',
      sums.measured === 0 ? 'not measured' : `${money(sums.cost_usd.a)} → ${money(sums.cost_usd.b)}`,
      ofMeasured(sums.measured),
    ],
    ['Only in A, only in B', `${count(sums.only.a)}, ${count(sums.only.b)}`],
  ];
  at('facts').replaceChildren(
    ...values.map(([name, value, note]) =>
      make(
        'div',
        '',
        make('dt', '', name),
        make('dd', '', value, note === undefined ? undefined : make('small', '', note)),
      ),
    ),
  );
}

/** @param {number} measured */
const ofMeasured = (measured) => `of ${plural(measured, 'pair')} with times in both`;

/** @param {readonly Single[]} only */
function drawOnly(only) {
  const section = at('only');
  section.hidden = only.length === 0;
  section.replaceChildren(
    ...SIDES.map((side) => {
      const rows = only.filter((one) => one.side === side);
      const items = rows
        .slice(0, ONLY_SHOWN)
        .map((one) =>
          make(
            'li',
            '',
            make(
              'a',
              { href: `${facts[side].base}report.html#${encodeURIComponent(one.key)}` },
              make('b', '', one.key),
            ),
            make('span', 'note', halfFacts(one)),
          ),
        );
      const rest = rows.length - items.length;
      return make(
        'div',
        { hidden: rows.length === 0 },
        make('h2', '', `${plural(rows.length, 'row')} only in `, sideMark(side)),
        make('ul', '', ...items),
        ...(rest > 0 ? [make('p', 'note', `and ${plural(rest, 'other row')}`)] : []),
      );
    }),
  );
}

/** @param {readonly Pair[]} pairs */
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
    drawChips(pairs, wish, change);
  };
  makeControls(change);
  change({});
  const openNamed = () => {
    const place = grid.order.findIndex(({ key }) => `#${encodeURIComponent(key)}` === location.hash);
    if (place >= 0) view.open(place);
  };
  addEventListener('hashchange', openNamed);
  openNamed();
}

/** @param {(wanted: Partial<PairWish>) => void} change */
function makeControls(change) {
  const search = /** @type {HTMLInputElement} */ (at('search'));
  search.oninput = () => change({ text: search.value.trim() });
  const sort = /** @type {HTMLSelectElement} */ (at('sort'));
  sort.append(...Object.entries(ORDERS).map(([value, { label }]) => make('option', { value }, label)));
  sort.onchange = () => change({ sort: sort.value });
  at('reset').onclick = () => {
    search.value = '';
    change({ show: '', text: '' });
  };
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target === search || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    search.focus();
  });
}

/**
 * @param {readonly Pair[]} pairs
 * @param {PairWish} wish
 * @param {(wanted: Partial<PairWish>) => void} change
 */
function drawChips(pairs, wish, change) {
  const focused = document.activeElement?.getAttribute('data-show');
  at('outcomes').replaceChildren(
    ...Object.entries(SHOWN).flatMap(([show, { label, is }]) => {
      const many = pairs.filter(is).length;
      if (many === 0 && show !== wish.show) return [];
      const chip = button('', () => change({ show }), 'chip');
      chip.append(label, make('small', '', count(many)));
      chip.setAttribute('aria-pressed', String(wish.show === show));
      chip.dataset['show'] = show;
      return [chip];
    }),
  );
  const again = focused == null ? null : at('outcomes').querySelector(`[data-show="${focused}"]`);
  if (again instanceof HTMLElement) again.focus();
}

drawHead(facts);
void readPairs().then(({ pairs, only }) => {
  drawOnly(only);
  start(pairs);
  document.documentElement.dataset['ready'] = '';
});
