// The options of a request, merged with the options of an earlier batch or of an answer.

import { definedOnly } from '../options/defined-only.ts';
import { stayingOf } from '../options/table.ts';
import type { GuessOptions } from '../sheet/guesses/guess.ts';
import type { SheetOptions } from '../sheet/sheet-source.ts';
import type { BatchFile } from '../store/batch-file.ts';

/** The options of a batch that also apply to its results, which have the columns of its sheet. */
export type AgreedOptions = Partial<Omit<SheetOptions, 'format'>>;

export function agreedIn({ sheet: { options } }: BatchFile): AgreedOptions {
  const { map, set, drop, types, keyColumn, gpuColumn, gpu } = options;
  return {
    map,
    set,
    drop,
    types,
    ...definedOnly({ keyColumn, gpuColumn, gpu }),
    ...stayingOf(options, [true]),
  };
}

/** Replaces options of a request by stated ones; pairs and dropped columns are added. */
export const withStated = (own: Omit<SheetOptions, 'format'>, stated: GuessOptions) => ({
  ...withAgreed({ map: {}, set: {}, drop: [], types: {}, ...stated }, own),
  // A guess about a template completes the user's own text.
  set: { ...own.set, ...stated.set },
});

/** Completes the options of a request with the options of a batch. */
export function withAgreed(
  own: Omit<SheetOptions, 'format'>,
  { map, set, drop = [], types, gpu, ...agreed }: AgreedOptions,
): Omit<SheetOptions, 'format'> {
  return {
    ...agreed,
    ...(gpu !== undefined && own.ladder === undefined && { gpu }),
    ...own,
    map: { ...map, ...own.map },
    set: { ...set, ...own.set },
    drop: [...new Set([...drop, ...own.drop])],
    types: { ...types, ...own.types },
  };
}
