// Evaluates the part of PromQL that our alert rules and dashboards use, on samples of scrapes. The grammar is Prometheus's own;
// what this evaluator does not know throws. Unlike Prometheus, rate() and increase() do not extrapolate.

import { parser } from '@prometheus-io/lezer-promql';
import type { Labels, Sample } from './exposition.ts';

/** The samples of one scrape by name, at a time in seconds. */
export type Scrape = { readonly at: number; readonly samples: ReadonlyMap<string, readonly Sample[]> };
export type Element = { readonly labels: Labels; readonly value: number };
type Value = number | readonly Element[];
type Tree = ReturnType<typeof parser.parse>;
type QueryNode = Tree['topNode'];

const LOOKBACK_S = 300;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export const secondsOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? Number.NaN),
    0,
  );

const TREES = new Map<string, Tree>();

/** Throws if it is not PromQL. */
function treeOf(query: string): Tree {
  const cached = TREES.get(query);
  if (cached !== undefined) return cached;
  const tree = parser.parse(query);
  tree.iterate({
    enter: ({ type }) => {
      if (type.isError) throw new Error(`not PromQL: ${query}`);
    },
  });
  TREES.set(query, tree);
  return tree;
}

/** The names of the metrics in a query. */
export function metricsIn(query: string): readonly string[] {
  const names: string[] = [];
  treeOf(query).iterate({
    enter: ({ node }) => {
      if (node.name === 'Identifier' && node.parent?.name === 'VectorSelector')
        names.push(query.slice(node.from, node.to));
    },
  });
  return names;
}

/** The labels by which a query selects or groups. */
export function labelsIn(query: string): readonly string[] {
  const names: string[] = [];
  treeOf(query).iterate({
    enter: ({ node }) => {
      if (node.name === 'LabelName') names.push(query.slice(node.from, node.to));
    },
  });
  return names;
}

/** The result of a query at a time, in seconds, as elements; a scalar is one without labels. */
export function evaluate(query: string, scrapes: readonly Scrape[], at: number): readonly Element[] {
  const past = scrapes.filter((scrape) => scrape.at <= at);
  const value = new Evaluation(query, past, at).valueOf(treeOf(query).topNode.firstChild as QueryNode);
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

class Evaluation {
  readonly #query: string;
  readonly #scrapes: readonly Scrape[];
  readonly #at: number;

  constructor(query: string, scrapes: readonly Scrape[], at: number) {
    this.#query = query;
    this.#scrapes = scrapes;
    this.#at = at;
  }

  valueOf(node: QueryNode): Value {
    switch (node.name) {
      case 'NumberDurationLiteral':
        return Number(this.#text(node));
      case 'ParenExpr':
        return this.valueOf(node.firstChild as QueryNode);
      case 'VectorSelector':
        return this.#selected(node);
      case 'FunctionCall':
        return this.#called(node);
      case 'AggregateExpr':
        return this.#aggregated(node);
      case 'BinaryExpr':
        return this.#combined(node);
      default:
        throw new Error(`not supported: ${node.name} in ${this.#query}`);
    }
  }

  #text(node: QueryNode): string {
    return this.#query.slice(node.from, node.to);
  }

  #selected(node: QueryNode): readonly Element[] {
    const last = this.#scrapes.at(-1);
    const isFresh = last !== undefined && this.#at - last.at < LOOKBACK_S;
    return isFresh ? this.#in(last, node).map(unnamed) : [];
  }

  #in({ samples }: Scrape, selector: QueryNode): readonly Sample[] {
    const name = this.#text(selector.getChild('Identifier') as QueryNode);
    return (samples.get(name) ?? []).filter(this.#matcher(selector));
  }

  #matcher(node: QueryNode): (sample: Sample) => boolean {
    const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map(
      (matcher) => {
        const label = this.#text(matcher.getChild('LabelName') as QueryNode);
        const text = JSON.parse(this.#text(matcher.getChild('StringLiteral') as QueryNode)) as string;
        const operator = this.#text(matcher.getChild('MatchOp') as QueryNode);
        const pattern = new RegExp(`^(?:${text})$`);
        return ({ labels }: Sample): boolean => {
          const value = labels[label] ?? '';
          const isMatch = operator.endsWith('~') ? pattern.test(value) : value === text;
          return operator.startsWith('!') ? !isMatch : isMatch;
        };
      },
    );
    return (sample) => matchers.every((matches) => matches(sample));
  }

  #called(node: QueryNode): Value {
    const name = this.#text(node.getChild('FunctionIdentifier') as QueryNode);
    const [argument] = node.getChild('FunctionCallBody')?.getChildren('Expr') ?? [];
    const body = (argument ?? node.getChild('FunctionCallBody')?.firstChild) as QueryNode;
    if (name === 'time') return this.#at;
    if (name === 'absent') {
      const elements = this.valueOf(body) as readonly Element[];
      return elements.length === 0 ? [{ labels: {}, value: 1 }] : [];
    }
    const over = OVER_TIME[name];
    if (over === undefined) throw new Error(`not supported: ${name} in ${this.#query}`);
    return this.#ranges(body).flatMap(({ labels, points }) =>
      points.length < 2 ? [] : [{ labels, value: over(points) }],
    );
  }

  #ranges(node: QueryNode): readonly { readonly labels: Labels; readonly points: readonly Point[] }[] {
    const selector = node.getChild('VectorSelector') as QueryNode;
    const from = this.#at - secondsOf(this.#text(node.getChild('DurationExpr') as QueryNode));
    const samples = this.#scrapes
      .filter(({ at }) => at > from)
      .flatMap((scrape) =>
        this.#in(scrape, selector).map((element) => ({ ...unnamed(element), at: scrape.at })),
      );
    return [...Map.groupBy(samples, ({ labels }) => keyOf(labels)).values()].map((points) => ({
      labels: points[0]?.labels ?? {},
      points,
    }));
  }

  #aggregated(node: QueryNode): readonly Element[] {
    const operator = this.#text(node.getChild('AggregateOp') as QueryNode);
    const combine = AGGREGATES[operator];
    if (combine === undefined) throw new Error(`not supported: ${operator} in ${this.#query}`);
    const grouping = node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName');
    const by = (grouping ?? []).map((label) => this.#text(label));
    const elements = this.valueOf(
      node.getChild('FunctionCallBody')?.firstChild as QueryNode,
    ) as readonly Element[];
    const kept = elements.map(({ labels, value }) => ({
      labels: Object.fromEntries(by.flatMap((name) => (name in labels ? [[name, labels[name] ?? '']] : []))),
      value,
    }));
    return [...Map.groupBy(kept, ({ labels }) => keyOf(labels)).values()].map((group) => ({
      labels: group[0]?.labels ?? {},
      value: combine(group.map(({ value }) => value)),
    }));
  }

  #combined(node: QueryNode): Value {
    const [left, operator, right] = [node.firstChild, node.firstChild?.nextSibling, node.lastChild] as [
      QueryNode,
      QueryNode,
      QueryNode,
    ];
    const sign = this.#text(operator);
    const [a, b] = [this.valueOf(left), this.valueOf(right)];
    if (typeof a === 'number' && typeof b === 'number') return operate(sign, a, b) ?? 0;
    if (typeof a === 'number')
      return (b as readonly Element[]).flatMap((element) =>
        kept(element.labels, operate(sign, a, element.value)),
      );
    if (typeof b === 'number')
      return a.flatMap((element) => kept(element.labels, operate(sign, element.value, b)));
    const byLabels = new Map(b.map(({ labels, value }) => [keyOf(labels), value]));
    return a.flatMap((element) => {
      const match = byLabels.get(keyOf(element.labels));
      if (match === undefined) return [];
      return sign === 'and' ? [element] : kept(element.labels, operate(sign, element.value, match));
    });
  }
}

type Point = { readonly at: number; readonly value: number };

const unnamed = ({ labels, value }: Sample): Element => ({ labels, value });
const keyOf = (labels: Labels): string =>
  JSON.stringify(
    Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .toSorted(),
  );
const kept = (labels: Labels, value: number | undefined): readonly Element[] =>
  value === undefined ? [] : [{ labels, value }];

/** A comparison keeps the left value if it holds. */
function operate(sign: string, a: number, b: number): number | undefined {
  const compare = COMPARISONS[sign];
  if (compare !== undefined) return compare(a, b) ? a : undefined;
  const compute = ARITHMETIC[sign];
  if (compute === undefined) throw new Error(`not supported: ${sign}`);
  return compute(a, b);
}

type Table<F> = Readonly<Record<string, F>>;
const COMPARISONS: Table<(a: number, b: number) => boolean> = {
  '==': (a, b) => a === b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
};
const ARITHMETIC: Table<(a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};
const AGGREGATES: Table<(values: readonly number[]) => number> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
};

/** A counter that falls began again at zero. */
const increaseOf = (points: readonly Point[]): number =>
  points.reduce((sum, { value }, at) => {
    const before = points[at - 1]?.value ?? value;
    return sum + (value < before ? value : value - before);
  }, 0);
const OVER_TIME: Table<(points: readonly Point[]) => number> = {
  increase: increaseOf,
  rate: (points) => increaseOf(points) / ((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)),
  changes: (points) => points.filter(({ value }, at) => at > 0 && value !== points[at - 1]?.value).length,
};
