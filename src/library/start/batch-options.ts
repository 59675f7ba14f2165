// What a program asks of a new batch.

import type { BatchRequest } from '../../create-batch/batch-request.ts';
import {
  acceptedBy,
  givenFrom,
  IN_PROGRAM,
  limitChangeOf,
  refuseBoth,
  requestOf,
  valueOf,
} from '../../create-batch/given-options.ts';
import type { Answers } from '../../create-batch/questions.ts';
import { problem } from '../../errors/error.ts';
import { absoluteTarget } from '../../notices/notify-targets.ts';
import { span } from '../../options/batch-kinds.ts';
import { definedOnly } from '../../options/defined-only.ts';
import type { BatchOptions, Duration, Limits, ReadingOptions } from '../../options/generated.ts';
import type { LimitChange } from '../../options/limits.ts';
import { keptIn, type Given } from '../../options/table.ts';
import type { Spoken } from '../../run-service/open-services.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import type { Reading } from '../../sheet/sheet-source.ts';
import { checkLadder } from '../../sheet/size-classes.ts';

export type { BatchOptions, Duration, Limits, ReadingOptions };

function givenBy(options: Partial<BatchOptions>): Given {
  const { notify } = options;
  return givenFrom(
    'program',
    Array.isArray(notify) ? { ...options, notify: notify.map(absoluteTarget) } : options,
  );
}

/** Throws E602 for a value that cannot be a limit. */
export const limitsFrom = (limits: Limits): LimitChange => limitChangeOf(givenBy(limits));

/** How to read a file, without what its columns mean, and the order of its rows. */
export function readingFrom(options: ReadingOptions): {
  readonly reading: Reading;
  readonly order: OrderOptions;
} {
  const given = givenBy(options);
  return { reading: keptIn('reading', given), order: keptIn('order', given) };
}

export const answersFrom = ({
  guess,
  acceptGpu,
  acceptFiles,
}: Pick<BatchOptions, 'guess' | 'acceptGpu' | 'acceptFiles'>): Answers =>
  acceptedBy(definedOnly({ guess, acceptGpu, acceptFiles }));

/** Throws E602 for options that cannot be met. */
export function requestFrom(options: BatchOptions, service: Spoken): BatchRequest {
  const given = givenBy(options);
  if (given.deployment === undefined) throw problem('E602', { what: 'no deployment is given' });
  refuseBoth(given);
  const { ladder } = given;
  checkLadder({ ...(ladder && { ladder }) });
  return requestOf(given, { service, ...(given.reuse && { reuse: given.reuse }) });
}

/** In milliseconds. Throws E602. */
export const durationFrom = (option: string, given: Duration): number =>
  valueOf(option, { kind: span('1s', 1_000) }, given, IN_PROGRAM) as number;
