// Sizes of rows, for a ladder of GPUs: the product of the inputs that predict how much memory and time a run needs. Each size is
// a class of its own if there are few; otherwise sizes fall into classes whose bounds grow by the same factor.

import { isRawNumber } from '../host/formats/exact-json.ts';
import { isGpu } from '../options/facts/gpu.ts';
import { MAX_SIZE_CLASSES } from '../batch/bounds.ts';
import { MAX_RUNGS } from '../options/bounds-and-defaults.ts';
import { problem } from '../errors/error.ts';
import { wrongGpu } from './gpu-names.ts';
import type { SheetOptions } from './sheet-source.ts';

/** Names of such inputs, in lower case without `-` and `_`. */
const PREDICTING: ReadonlySet<string> = new Set(
  'width height resolution megapixels steps numsteps inferencesteps numinferencesteps frames numframes framecount videoframes length videolength duration seconds fps batch batchsize numimages imagesperprompt numimagesperprompt scale upscale upscaleby scalefactor'.split(
    ' ',
  ),
);

export const predictsSize = (input: string): boolean =>
  PREDICTING.has(input.toLowerCase().replaceAll(/[-_]/g, ''));

/** The size of a row; 0 if it lacks one of the inputs, or if one is no positive number. */
export function sizeOf(inputs: Readonly<Record<string, unknown>>, sizedBy: readonly string[]): number {
  if (sizedBy.length === 0) return 0;
  const size = sizedBy.reduce((product, input) => product * numberIn(inputs[input]), 1);
  return Number.isFinite(size) ? size : 0;
}

function numberIn(value: unknown): number {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && number > 0 ? number : 0;
}

export type SizeClass = { readonly size: number; readonly least: number; readonly most: number };

/** The classes of these sizes, in rising order; `distinct` has one size more than there may be classes if there are many. */
export function sizeClasses(distinct: readonly number[], most: number): readonly SizeClass[] {
  const sorted = distinct.toSorted((a, b) => a - b);
  if (sorted.length <= MAX_SIZE_CLASSES)
    return sorted.map((size, at) => ({ size: at + 1, least: size, most: size }));
  const least = sorted[0] as number;
  const factor = (most / least) ** (1 / MAX_SIZE_CLASSES);
  return Array.from({ length: MAX_SIZE_CLASSES }, (_, at) => ({
    size: at + 1,
    least: at === 0 ? least : least * factor ** at,
    most: at === MAX_SIZE_CLASSES - 1 ? most : least * factor ** (at + 1),
  }));
}

/** Throws E201 for a GPU that the service does not have, and E602 for a ladder that cannot be climbed. */
export function checkLadder({ ladder }: Pick<SheetOptions, 'ladder'>): void {
  if (ladder === undefined) return;
  for (const rung of ladder) if (!isGpu(rung)) throw wrongGpu(rung, '--ladder');
  const twice = ladder.find((rung, at) => ladder.indexOf(rung) !== at);
  if (twice !== undefined)
    throw problem('E602', {
      what: `--ladder names ${twice} twice`,
      hint: 'name each GPU once, cheapest first',
    });
  if (ladder.length < 2)
    throw problem('E602', {
      what: `--ladder ${ladder.join(',')} has one rung`,
      hint: `name at least two and at most ${MAX_RUNGS} GPUs, cheapest first, or use --gpu ${ladder.join(',')}`,
    });
}
