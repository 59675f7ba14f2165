// A case as data: its rules, its cost, what it needs from the service, and its requests.

import type { Flavour } from './rule.ts';
import type { Service } from './service.ts';
import type { Need } from './target.ts';

export type Case = {
  readonly name: string;
  /** The ids of its rules; it fails if any of them is broken. */
  readonly rules: readonly string[];
  /** A case that buys runs costs GPU time on the real service. */
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

/** A case that queues no run; `rules` are ids separated by spaces. */
export const free = caseOf('free');

/** A case that queues runs. */
export const buys = caseOf('buys runs');
