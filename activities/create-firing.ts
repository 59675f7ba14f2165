// Makes the batch of a firing from the current sheet. A firing has one batch, which a retry finds again.

import { firingOf, type ScheduleDefinition } from '../src/schedule/schedule-definition.ts';
import { asKeys } from '../src/schedule/job-keys.ts';
import { problem } from '../src/errors/error.ts';
import { LOCAL } from '../src/host/local-address.ts';
import { isAllowed } from '../src/store/allowed-folders.ts';
import { locationOf } from '../src/store/batch-folders.ts';
import type { BatchCall } from '../src/batches/create-once.ts';
import { createFrom, type NewBatch } from './create-batch.ts';
import type { Deps } from './deps.ts';
import { finalFailure } from './activity-failures.ts';

export type FiringInput = {
  readonly definition: ScheduleDefinition;
  readonly nominalTime: number;
  /** The same as in a batch call. */
  readonly findOnly?: true;
};

/** Fails permanently, with the code of the error, if another attempt would not help. */
export async function createFiring(
  deps: Pick<Deps, 'log' | 'maker'>,
  { definition, nominalTime, findOnly }: FiringInput,
): Promise<NewBatch | undefined> {
  const { out, format, deadlineMs, reuse, job } = definition;
  const { name, sheet, request } = firingOf(definition, nominalTime);
  const { service, ...wanted } = request;
  // The worker may have another service of its own.
  const ofSchedule = service.base === LOCAL ? {} : { apiUrl: service.base, api: service.api };
  const config = { ...deps.maker.config, out, ...ofSchedule };
  refuseElsewhere(deps.maker.config, locationOf(out, name), service.base);
  const deadline = deadlineMs === undefined ? {} : { deadlineAt: Date.now() + deadlineMs };
  const call: BatchCall = {
    sheet,
    ...(format && { format }),
    callId: `firing ${name}`,
    request: {
      ...wanted,
      name,
      settings: { ...wanted.settings, ...deadline },
      // Nobody is there to be asked about a single row. The schedule decides about rows of other batches, wherever these are, and its limit was accepted when it was
      // created.
      answers: {
        ...wanted.answers,
        oddRows: 'refuse',
        elsewhere: 'again',
        ofBatch: 'new',
        lowBudget: 'accept',
      },
    },
    ...(service.base === LOCAL ? { service: LOCAL } : {}),
    reuse: reuse ? 'reuse' : 'again',
    ...(findOnly && { findOnly }),
    ...(job !== undefined && { job, wording: asKeys(job, wanted.options) }),
  };
  return createFrom({ log: deps.log, maker: { ...deps.maker, config } }, sheet, () => call, job);
}

/** A worker makes batches only where it may work, and only for the service that the user meant. */
export function refuseElsewhere(config: Deps['maker']['config'], folder: string, base: string): void {
  const error = !isAllowed(folder, config)
    ? problem('E411', { folder, out: config.out })
    : base !== LOCAL && config.apiKey(base) === undefined
      ? problem('E306', { base })
      : undefined;
  if (error !== undefined) throw finalFailure(error);
}
