// Names that the service gives stand in signals, records and sums: each is short, whatever the service says.

import { z } from 'zod';
import { shortened } from '../../errors/outside-text.ts';

const NAME_MAX = 60;
const FILE_NAME_MAX = 255;

/** Longer than any id of ours: one that is cut is of a run that nobody here asks for. */
const ID_MAX = 200;
export const shortId = (given: string): string => shortened(given, ID_MAX);

export const shortName = (given: string): string => shortened(given, NAME_MAX);

export const optionalName = (given: string | null | undefined): string | undefined =>
  given == null ? undefined : shortName(given);

/** GPUs are counted by their names: what every object has already (`constructor`) is none. */
export const gpuName = (given: string | null | undefined): string | undefined =>
  given == null || given in {} ? undefined : shortName(given);

export const fileNameText = z.string().transform((given) => shortened(given, FILE_NAME_MAX));
