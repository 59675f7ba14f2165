// A case, as data: which rules it pins, what it costs, what it needs of the service, and what it asks.

import type { Flavour } from './rule.ts';
import type { Service } from './service.ts';
import type { Need } from './target.ts';

export type Case = {
  readonly name: string;
  /** The ids of the rules that it pins: it fails when any one of them is broken. */
  readonly rules: readonly string[];
  /** A case that buys runs takes GPU time where that has a price. */
  readonly cost: 'free' | 'buys runs';
  readonly needs?: readonly Need[];
  readonly only?: Flavour;
  readonly run: (service: Service) => Promise<void>;
};

type Options = { readonly needs?: readonly Need[]; readonly only?: Flavour };

const caseOf =
  (cost: Case['cost']) =>
  (rules: string, name: string, run: Case['run'], options: Options = {}): Case => ({
    name,
    rules: rules.split(' '),
    cost,
    run,
    ...options,
  });

/** A case that queues no run; `rules` are ids with a space between them. */
export const free = caseOf('free');

/** A case that queues runs. */
export const buys = caseOf('buys runs');
