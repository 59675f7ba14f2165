// The page of a comparison: head, filters, the pairs, and what only one of the batches has.

import { Chips, Choices, html, render, Search, Terms, useMemo, useNamed, useRef, useState } from './parts.js';
import { Gallery } from './gallery.js';
import { arranged, cellIn, drawPair, ORDERS, readPairs, reportOf, SHOWN, SideMark, SIDES } from './pairs.js';
import { PairView } from './pair-view.js';
import { count, factsText, joined, money, plural, span } from './text.js';

/** @import { PairWish } from './pairs.js' */
/** @import { ComparisonFacts, ShownPair, ShownSingle } from '../comparison-page.ts' */

const ONLY_SHOWN = 200;
/** @type {PairWish} */
const EVERYTHING = { show: '', text: '', sort: 'change' };

/** @type {(facts: ComparisonFacts, page: HTMLElement) => Promise<void>} */
export async function startComparison(facts, page) {
  const { pairs, only } = await readPairs();
  render(html`<${Comparison} ...${{ facts, pairs, only }} />`, page);
}

/** @param {{ facts: ComparisonFacts, pairs: readonly ShownPair[], only: readonly ShownSingle[] }} props */
function Comparison({ facts, pairs, only }) {
  const [wish, setWish] = useState(EVERYTHING);
  const [place, open] = useState(-1);
  const port = useRef();
  const order = useMemo(() => arranged(pairs, wish), [wish]);
  const change = (wanted) => setWish({ ...wish, ...wanted });
  useNamed((name) => open(order.findIndex(({ key }) => key === name)));
  const chips = Object.entries(SHOWN)
    .map(([show, { label, is }]) => /** @type {const} */ ([show, label, pairs.filter(is).length]))
    .filter(([show, , many]) => many > 0 || show === wish.show);
  const orders = Object.entries(ORDERS).map(([name, { label }]) => [name, label]);
  const onClose = () => {
    open(-1);
    port.current?.reveal(place);
  };
  const shown = order.length === pairs.length ? '' : `${count(order.length)} of `;
  return html`<${Head} ...${facts} />
    <main>
      <div id="toolbar">
        <div class="bar wrap">
          <${Search} what="Find in pairs" text=${wish.text} onText=${(text) => change({ text })} />
          <${Choices} id="sort" label="Order" options=${orders} value=${wish.sort} onValue=${(sort) => change({ sort })} />
        </div>
        <${Chips} label="Which pairs" all=${chips} chosen=${wish.show} choose=${(show) => change({ show })} />
        <p id="count" class="note" role="status">${shown}${plural(pairs.length, 'pair')}</p>
      </div>
      <${Gallery} key=${JSON.stringify(wish)} name="pairs" version=${0} length=${order.length} cellOf=${cellIn}
        draw=${(at, cell) => drawPair(facts, /** @type {ShownPair} */ (order[at]), at, cell)} placeOf=${(at) => at}
        ...${{ port, onOpen: open, nothing: 'No pair is like that.' }} showAll=${() => setWish(EVERYTHING)} />
      <${Only} facts=${facts} only=${only} />
    </main>
    ${place >= 0 && html`<${PairView} ...${{ facts, order, place, onClose }} go=${open} />`}`;
}

/** @param {ComparisonFacts} props */
function Head({ a, b, sums, verdict, unmeasured }) {
  const { pairs, identical, outcome_differs, measured, run_seconds, cost_usd, only, succeeded } = sums;
  const note = `${plural(measured, 'pair')} with times in both`;
  const change = (name, both, text) => {
    const shown = measured === 0 ? 'not measured' : `${text(both.a)} → ${text(both.b)}`;
    return [`${name} A → B`, shown, note];
  };
  const batch = (side) => {
    const { base, batch: name, deployment } = { a, b }[side];
    const link = html`<a href="${base}report.html"><b>${name}</b></a>`;
    return html`<p class="wrap"><${SideMark} side=${side} />${link}<span class="note">${joined([deployment, sums.gpu[side]])}</span></p>`;
  };
  const facts = [
    ['Succeeded in both', count(succeeded), `of ${plural(pairs, 'pair')}, ${count(identical)} identical`],
    ['Outcome differs', count(outcome_differs)],
    change('Run time', run_seconds, span),
    ...(cost_usd.a || cost_usd.b
      ? [change('Cost', cost_usd, (usd) => (usd ? money(usd) : 'not known'))]
      : []),
    ['Only in A, only in B', `${count(only.a)}, ${count(only.b)}`],
  ];
  const sheets = a.sheet === b.sheet ? a.sheet : `${a.sheet} and ${b.sheet}`;
  return html`<header id="head">
    <p class="wrap"><b id="title">Comparison</b><span id="source" class="note">${plural(pairs, 'pair')} · ${sheets}</span></p>
    <h1 id="sentence">${joined([verdict, unmeasured], '. ')}</h1>
    ${SIDES.map(batch)}
    <${Terms} id="facts" name="wrap" entries=${facts} />
  </header>`;
}

/** @param {{ facts: ComparisonFacts, only: readonly ShownSingle[] }} props */
function Only({ facts, only }) {
  const item = (one) =>
    html`<li class="wrap"><a href=${reportOf(facts, one.side, one.key)}><b>${one.key}</b></a><span class="note">${factsText(one)}</span></li>`;
  const list = (side) => {
    const rows = only.filter((one) => one.side === side);
    const rest = rows.length - ONLY_SHOWN;
    if (rows.length === 0) return null;
    return html`<div>
      <h2 class="wrap">${plural(rows.length, 'row')} only in <${SideMark} side=${side} /></h2>
      <ul class="lined">${rows.slice(0, ONLY_SHOWN).map(item)}</ul>
      ${rest > 0 && html`<p class="note">and ${plural(rest, 'other row')}</p>`}
    </div>`;
  };
  return (
    only.length > 0 &&
    html`<section id="only" class="columns" aria-label="Rows of one batch">${SIDES.map(list)}</section>`
  );
}
