// The pairs of a comparison: reads them, chooses and orders those that are shown, and draws the card of one.

import type { Side } from '../../compare/compared-pair.ts';
import type { ComparisonFacts, ShownHalf, ShownPair, ShownSingle } from '../comparison-page.ts';
import { readColumns } from './data.ts';
import { NoPicture, SmallFile } from './files.tsx';
import type { Card, Cell } from './gallery.tsx';
import { Terms, toneOf } from './view-parts.tsx';
import { count } from '../../../options/text/printed-numbers.ts';
import { factsText } from './text.ts';

export type PairWish = { show: string; text: string; sort: string };

export const SIDES: readonly Side[] = ['a', 'b'];

type Show = { label: string; is: (pair: ShownPair) => boolean };

export const SHOWN: Readonly<Record<string, Show>> = {
  '': { label: 'All', is: () => true },
  differs: { label: 'Differs', is: (pair) => !pair.same },
  identical: { label: 'Identical', is: (pair) => pair.same },
  outcome: { label: 'Outcome differs', is: ({ a, b }) => a.outcome !== b.outcome },
  inputs: { label: 'Inputs differ', is: ({ changes }) => changes.length > 0 },
};

/** How often one value fits into the other; 1 if one is unknown. */
const ratio = (over: number, under: number): number => (over > 0 && under > 0 ? over / under : 1);

type PairOrder = { label: string; of: (pair: ShownPair) => number };

/** Largest first. */
export const ORDERS: Readonly<Record<string, PairOrder>> = {
  change: { label: 'Most changed first', of: ({ change }) => change },
  row: { label: 'Order of sheet A', of: ({ a }) => -a.row },
  faster: { label: 'B faster first', of: ({ a, b }) => ratio(a.seconds, b.seconds) },
  slower: { label: 'B slower first', of: ({ a, b }) => ratio(b.seconds, a.seconds) },
  dearer: { label: 'B dearer first', of: ({ a, b }) => ratio(b.cost, a.cost) },
};

export async function readPairs(): Promise<{ pairs: ShownPair[]; only: ShownSingle[] }> {
  const columns = await readColumns();
  const read = <Value,>(name: string): Value[] =>
    ((columns[name] ?? []) as string[]).flatMap((line) => (line ? [JSON.parse(line) as Value] : []));
  return { pairs: read('pairs'), only: read('only') };
}

export function arranged(pairs: readonly ShownPair[], { show, text, sort }: PairWish): ShownPair[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const of = (ORDERS[sort] ?? ORDERS['change'])?.of ?? (() => 0);
  const isShown = SHOWN[show]?.is ?? (() => true);
  return pairs
    .filter((pair) => isShown(pair) && words.every((word) => textOf(pair).includes(word)))
    .sort((x, y) => of(y) - of(x) || x.a.row - y.a.row);
}

const textOf = ({ key, a, b, changes, inputs }: ShownPair): string =>
  [key, a.outcome, b.outcome, a.gpu, b.gpu, a.reason, b.reason, ...changes.flat(), ...inputs.flat()]
    .join('\n')
    .toLowerCase();

export const SideMark = ({ side }: { side: Side }) => (
  <span class={`mark mark-${side}`}>{side.toUpperCase()}</span>
);

/** The address of a row in the report of its batch. */
export const reportOf = (facts: ComparisonFacts, side: Side, key: string): string =>
  `${facts[side].base}report.html#${encodeURIComponent(key)}`;

export function addressOf(facts: ComparisonFacts, side: Side, half: ShownHalf, nth = 0): string | undefined {
  const file = half.files[nth];
  return file && facts[side].base + file.path;
}

export function PairBadge({ pair: { a, b, same } }: { pair: ShownPair }) {
  if (a.outcome !== b.outcome)
    return (
      <span class="pill" style={toneOf('unknown')}>
        outcome differs
      </span>
    );
  return same ? <span class="pill">identical</span> : null;
}

export function NoFile({ half: { outcome, reason, texts } }: { half: ShownHalf }) {
  const isGood = outcome === 'succeeded';
  const text = reason || (texts[0] ?? (isGood ? 'no file' : ''));
  return <NoPicture outcome={isGood ? '' : outcome} text={text} />;
}

type ChangesProps = { pair: ShownPair; most: number; class?: string };

export function Changes({ pair: { changes }, most, class: classes = '' }: ChangesProps) {
  const entries = changes.slice(0, most).map(([input, a, b]) => {
    const change = (
      <>
        <del>{a || '(none)'}</del> → <ins>{b || '(none)'}</ins>
      </>
    );
    return [input, change] as const;
  });
  const more = changes.length - entries.length;
  return (
    <>
      {entries.length > 0 && <Terms class={`changes ${classes}`} entries={entries} />}
      {more > 0 && <small>and {count(more)} more</small>}
    </>
  );
}

/** The heights of the parts of a card around its two pictures. */
const AROUND = { head: 30, caption: 44, changes: 62 };
const CHANGES_SHOWN = 2;
const LEAST = 440;
const GAP = 36;

export function cellIn(room: number): Cell {
  const columns = Math.max(1, Math.floor((room + GAP) / (LEAST + GAP)));
  const width = Math.floor((room - GAP * (columns - 1)) / columns);
  const height = Math.min(260, Math.round(width / 2)) + AROUND.head + AROUND.caption + AROUND.changes;
  return { columns, width, height, gap: GAP, line: height + 20 };
}

export function pairCard(facts: ComparisonFacts, pair: ShownPair, id: number, cell: Cell): Card {
  const height = cell.height - AROUND.head - AROUND.caption - AROUND.changes;
  const content = (
    <>
      <div class="pair-head wrap">
        <b class="clip">{pair.key}</b>
        <PairBadge pair={pair} />
      </div>
      <div class="halves">
        {SIDES.map((side) => (
          <Half key={side} facts={facts} pair={pair} side={side} height={height} />
        ))}
      </div>
      <Changes pair={pair} most={CHANGES_SHOWN} />
    </>
  );
  return { id, class: 'pair', href: `#${encodeURIComponent(pair.key)}`, content };
}

type HalfProps = { facts: ComparisonFacts; pair: ShownPair; side: Side; height: number };

function Half({ facts, pair, side, height }: HalfProps) {
  const half = pair[side];
  const path = addressOf(facts, side, half);
  return (
    <figure>
      <div class="frame" style={{ height: `${height}px` }}>
        {path === undefined ? (
          <NoFile half={half} />
        ) : (
          <SmallFile path={path} label={`${side.toUpperCase()}: ${pair.key}`} />
        )}
        {half.files.length > 1 && <span class="pill badge files">{half.files.length}</span>}
      </div>
      <figcaption class="facts clamp">
        <SideMark side={side} /> {factsText(half)}
      </figcaption>
    </figure>
  );
}
