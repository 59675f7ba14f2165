import { describe, expect, it } from 'vitest';
import { isGpu } from '../../../src/options/facts/gpu.ts';

describe('names', () => {
  it('the GPUs are those of the specification, to the letter', () => {
    expect(isGpu('A100-80GB')).toBe(true);
    expect(isGpu('a100')).toBe(false);
  });
});
