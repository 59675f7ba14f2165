// A case as data: what it claims, its cost, what it needs from the service, and its requests.

import type { Json } from './receiver.ts';
import { finished, type Service } from './service.ts';
import type { Flavour, Need } from './target.ts';

type Options = { readonly needs?: readonly Need[]; readonly only?: Flavour };
type CaseRun = (service: Service) => Promise<void>;

export type Case = Options & {
  readonly name: string;
  /** A case that buys runs costs GPU time on the real service. */
  readonly cost: 'free' | 'buys runs';
  readonly run: CaseRun;
};

const caseOf =
  (cost: Case['cost']) =>
  (name: string, ...args: readonly [run: CaseRun] | readonly [options: Options, run: CaseRun]): Case => {
    const [options, run] = args.length === 1 ? [{}, args[0]] : args;
    return { name, cost, run, ...options };
  };

/** A case that queues no run. */
export const free = caseOf('free');

/** A case that queues runs. */
export const buys = caseOf('buys runs');

/** A case about the record of the run that most cases read. */
export const shows = (name: string, check: (run: Json) => void, options: Options = {}): Case =>
  buys(name, options, async (service) => check(await finished(service)));
