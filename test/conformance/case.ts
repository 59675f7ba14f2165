// A case as data: its rules, its cost, what it needs from the service, and its requests.

import type { Flavour } from './rule.ts';
import type { Service } from './service.ts';
import type { Need } from './target.ts';

type Options = { readonly needs?: readonly Need[]; readonly only?: Flavour };
type Run = (service: Service) => Promise<void>;

export type Case = Options & {
  /** The ids of its rules; it fails if any of them is broken. */
  readonly rules: readonly string[];
  /** A case that buys runs costs GPU time on the real service. */
  readonly cost: 'free' | 'buys runs';
  readonly run: Run;
};

const caseOf =
  (cost: Case['cost']) =>
  (rules: string, ...given: readonly [run: Run] | readonly [options: Options, run: Run]): Case => {
    const [options, run] = given.length === 1 ? [{}, given[0]] : given;
    return { rules: rules.split(' '), cost, run, ...options };
  };

/** A case that queues no run; `rules` are ids separated by spaces. */
export const free = caseOf('free');

/** A case that queues runs. */
export const buys = caseOf('buys runs');

/** No two cases have the same rules. */
export const nameOf = ({ rules }: Case): string => rules.join(' ');
