// How much GPU memory a run needs: a fixed amount for the models, and more for each million pixels that it computes together.

import { parseExactly } from '../../batch/digits.ts';
import type { DeploymentSpec } from '../deployments.ts';

const VRAM_GB: Readonly<Record<string, number>> = {
  T4: 16,
  L4: 24,
  A10G: 24,
  L40S: 48,
  A100: 40,
  'A100-80GB': 80,
  H100: 80,
  H200: 141,
  B200: 192,
};

/** Whether the GPU has so much memory; true for an unknown GPU. */
export const hasMemory = (gpu: string, gb: number): boolean =>
  gb <= (VRAM_GB[gpu] ?? Number.POSITIVE_INFINITY);

/** `inputs` is JSON text, read only if the need depends on it. */
export function neededGb(spec: DeploymentSpec, inputs: () => string): number {
  const { vramGb, vramGbPerMegapixel } = spec;
  return vramGbPerMegapixel === 0 ? vramGb : vramGb + vramGbPerMegapixel * megapixels(spec, inputs());
}

function megapixels({ inputTypes = [] }: DeploymentSpec, inputs: string): number {
  const given = parseExactly(inputs) as Readonly<Record<string, unknown>>;
  const numberOf = (name: string, usual: number): number => {
    const value = Number(given[name] ?? inputTypes.find((type) => type.name === name)?.default ?? usual);
    return Number.isFinite(value) ? value : usual;
  };
  const pixels = numberOf('width', USUAL_EDGE) * numberOf('height', USUAL_EDGE);
  return (pixels * numberOf('batch_size', 1)) / 1e6;
}

const USUAL_EDGE = 1_024;
