// The page of a comparison: head, filters, the pairs, and the rows that only one of the batches has.

import { render } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Side } from '../../compare/compared-pair.ts';
import type { ComparisonFacts, ShownPair, ShownSingle } from '../comparison-page.ts';
import { Gallery, type GalleryPort } from './gallery.tsx';
import { Chips, Choices, Search, Terms, useNamed, type Chip, type Choice, type Term } from './view-parts.tsx';
import { PairView } from './pair-view.tsx';
import {
  arranged,
  cellIn,
  ORDERS,
  pairCard,
  readPairs,
  reportOf,
  SHOWN,
  SideMark,
  SIDES,
  type PairWish,
} from './pairs.tsx';
import { count, money, plural, span } from '../../../options/text/printed-numbers.ts';
import { factsText, joined } from './text.ts';

const ONLY_SHOWN = 200;
const EVERYTHING: PairWish = { show: '', text: '', sort: 'change' };

export async function startComparison(facts: ComparisonFacts, page: HTMLElement): Promise<void> {
  const { pairs, only } = await readPairs();
  render(<Comparison facts={facts} pairs={pairs} only={only} />, page);
}

type ComparisonProps = {
  facts: ComparisonFacts;
  pairs: readonly ShownPair[];
  only: readonly ShownSingle[];
};

function Comparison({ facts, pairs, only }: ComparisonProps) {
  const [wish, setWish] = useState(EVERYTHING);
  const [place, open] = useState(-1);
  const port = useRef<GalleryPort>();
  const order = useMemo(() => arranged(pairs, wish), [wish]);
  const change = (changed: Partial<PairWish>) => setWish({ ...wish, ...changed });
  useNamed((name) => open(order.findIndex(({ key }) => key === name)));
  const chips = Object.entries(SHOWN)
    .map(([show, { label, is }]): Chip => [show, label, pairs.filter(is).length])
    .filter(([show, , many]) => many > 0 || show === wish.show);
  const orders = Object.entries(ORDERS).map(([name, { label }]): Choice => [name, label]);
  const onClose = () => {
    open(-1);
    port.current?.reveal(place);
  };
  const shown = order.length === pairs.length ? '' : `${count(order.length)} of `;
  return (
    <>
      <Head {...facts} />
      <main>
        <div id="toolbar">
          <div class="bar wrap">
            <Search label="Find in pairs" text={wish.text} onText={(text) => change({ text })} />
            <Choices
              id="sort"
              label="Order"
              options={orders}
              value={wish.sort}
              onValue={(sort) => change({ sort })}
            />
          </div>
          <Chips label="Which pairs" chips={chips} chosen={wish.show} choose={(show) => change({ show })} />
          <p id="count" class="note" role="status">
            {shown}
            {plural(pairs.length, 'pair')}
          </p>
        </div>
        <Gallery
          key={JSON.stringify(wish)}
          class="pairs"
          version={0}
          length={order.length}
          cellOf={cellIn}
          draw={(at, cell) => pairCard(facts, order[at] as ShownPair, at, cell)}
          placeOf={(at) => at}
          port={port}
          onOpen={open}
          nothing="No pair is like that."
          showAll={() => setWish(EVERYTHING)}
        />
        <Only facts={facts} only={only} />
      </main>
      {place >= 0 && <PairView facts={facts} order={order} place={place} onClose={onClose} go={open} />}
    </>
  );
}

function Head({ a, b, sums, verdict, unmeasured }: ComparisonFacts) {
  const { pairs, identical, outcome_differs, measured, run_seconds, cost_usd, only, succeeded } = sums;
  const note = `${plural(measured, 'pair')} with times in both`;
  const change = <Value,>(name: string, both: Record<Side, Value>, text: (value: Value) => string): Term => {
    const shown = measured === 0 ? 'not measured' : `${text(both.a)} → ${text(both.b)}`;
    return [`${name} A → B`, shown, note];
  };
  const facts: Term[] = [
    ['Succeeded in both', count(succeeded), `of ${plural(pairs, 'pair')}, ${count(identical)} identical`],
    ['Outcome differs', count(outcome_differs)],
    change('Run time', run_seconds, span),
    ...(cost_usd.a || cost_usd.b
      ? [change('Cost', cost_usd, (usd) => (usd ? money(usd) : 'not known'))]
      : []),
    ['Only in A, only in B', `${count(only.a)}, ${count(only.b)}`],
  ];
  const sheets = a.sheet === b.sheet ? a.sheet : `${a.sheet} and ${b.sheet}`;
  return (
    <header id="head">
      <p class="wrap">
        <b id="title">Comparison</b>
        <span id="source" class="note">
          {plural(pairs, 'pair')} · {sheets}
        </span>
      </p>
      <h1 id="sentence">{joined([verdict, unmeasured], '. ')}</h1>
      {SIDES.map((side) => {
        const { base, batch, deployment } = { a, b }[side];
        return (
          <p key={side} class="wrap">
            <SideMark side={side} />
            <a href={`${base}report.html`}>
              <b>{batch}</b>
            </a>
            <span class="note">{joined([deployment, sums.gpu[side]])}</span>
          </p>
        );
      })}
      <Terms id="facts" class="wrap" entries={facts} />
    </header>
  );
}

type OnlyProps = { facts: ComparisonFacts; only: readonly ShownSingle[] };

function Only({ facts, only }: OnlyProps) {
  if (only.length === 0) return null;
  return (
    <section id="only" class="columns" aria-label="Rows of one batch">
      {SIDES.map((side) => (
        <OnlyIn key={side} facts={facts} side={side} rows={only.filter((row) => row.side === side)} />
      ))}
    </section>
  );
}

function OnlyIn({ facts, side, rows }: { facts: ComparisonFacts; side: Side; rows: ShownSingle[] }) {
  const more = rows.length - ONLY_SHOWN;
  if (rows.length === 0) return null;
  return (
    <div>
      <h2 class="wrap">
        {plural(rows.length, 'row')} only in <SideMark side={side} />
      </h2>
      <ul class="lined">
        {rows.slice(0, ONLY_SHOWN).map((row) => (
          <li key={row.row} class="wrap">
            <a href={reportOf(facts, side, row.key)}>
              <b>{row.key}</b>
            </a>
            <span class="note">{factsText(row)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="note">and {plural(more, 'other row')}</p>}
    </div>
  );
}
