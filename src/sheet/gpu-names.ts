import { GPU_MEMORY_GB, GPUS, type Gpu } from '../options/facts/gpu.ts';
import { correctionOf, nearest, problem, type RunsheetError } from '../errors/error.ts';
import { shortened } from './sheet-record.ts';

/** The facts of E201 for a GPU that the service does not have; `where` names the cell or the option. */
export function notAGpu(gpu: string, where: string) {
  return {
    what: `gpu ${JSON.stringify(shortened(gpu))} of ${where} is not a GPU of this service`,
    allowed: GPUS,
    near: nearest(gpu, GPUS),
  };
}

/** E201 for the GPU of a flag. */
export function wrongGpu(gpu: string, flag: string): RunsheetError {
  const facts = notAGpu(gpu, flag);
  return problem('E201', facts, { correction: correctionOf(gpu, facts.near) });
}

/** Names with and without the memory; the GPU with two sizes has two names. */
const NAMED: ReadonlyMap<string, Gpu> = new Map(
  GPUS.flatMap((gpu) => {
    const plain = plainGpu(gpu.replace(/-80GB$/, ''));
    const withMemory = [`${plain}${GPU_MEMORY_GB[gpu]}`, `${plain}${GPU_MEMORY_GB[gpu]}gb`];
    return [plainGpu(gpu), ...withMemory].map((name) => [name, gpu] as const);
  }),
);

/** Words for the default GPU, besides an empty cell. */
export const isDefaultGpu = (text: string): boolean =>
  /^(?:[-–—]+|none|auto|default|n\/?a)$/i.test(text.trim());

/** The GPU that people write as `Nvidia A100 80GB` or `a100 80`; undefined for any other text. */
export function gpuNamed(text: string): Gpu | undefined {
  // Nearly all cells use the service's name, which needs no normalization, or are empty, or other texts.
  if (text === '' || text.length > LONGEST_NAME) return undefined;
  return EXACT.get(text) ?? NAMED.get(plainGpu(text));
}

/** More characters than any name with its vendor. */
const LONGEST_NAME = 40;

const EXACT: ReadonlyMap<string, Gpu> = new Map(GPUS.map((gpu) => [gpu, gpu]));

/** Without vendor, case, spaces and hyphens. */
function plainGpu(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/nvidia|tesla|geforce/g, '')
    .replaceAll(/[\s\-_]/g, '');
}
