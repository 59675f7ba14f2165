// The reported cost of a run, at the price stored in batch.json. A later command may have given the service another
// price.

import { isVendor, vendorFacts } from '../options/facts/server-kind.ts';
import type { BatchFile } from './batch-file.ts';

type TellingRun = {
  readonly costUsd?: number | undefined;
  readonly gpu?: string | undefined;
  readonly runSeconds?: number | undefined;
};

/** In US dollars; undefined if the service tells none. */
export function reportedCost(
  {
    deployment,
    service,
  }: { readonly deployment: BatchFile['deployment']; readonly service: Pick<BatchFile['service'], 'prices'> },
  { costUsd, gpu = '', runSeconds = 0 }: TellingRun,
): number | undefined {
  // 0: the vendor never got the run.
  if (costUsd === undefined || costUsd === 0 || vendorFacts(gpu)?.reportsCost) return costUsd;
  if (typeof deployment.runPrice === 'number') return deployment.runPrice;
  const price = isVendor(gpu) && Object.hasOwn(service.prices, gpu) ? service.prices[gpu] : undefined;
  return price === undefined ? costUsd : Math.max(costUsd, price * runSeconds);
}
