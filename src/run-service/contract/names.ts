// Limits the length of names from the service, because they are stored in signals, records and sums.

import { z } from 'zod';
import { shortened } from '../../errors/outside-text.ts';

const NAME_MAX = 60;
const FILE_NAME_MAX = 255;

/** Longer than any id that we use, so a cut id never matches one of our runs. */
const ID_MAX = 200;
export const shortId = (given: string): string => shortened(given, ID_MAX);

export const shortName = (given: string): string => shortened(given, NAME_MAX);

export const optionalName = (given: string | null | undefined): string | undefined =>
  given == null ? undefined : shortName(given);

/** GPU names are object keys in sums, so a name that every object has (`constructor`) is refused. */
export const gpuName = (given: string | null | undefined): string | undefined =>
  given == null || given in {} ? undefined : shortName(given);

export const fileNameText = z.string().transform((given) => shortened(given, FILE_NAME_MAX));
