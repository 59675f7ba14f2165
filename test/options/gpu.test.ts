import { describe, expect, it } from 'vitest';
import { costOf, isGpu } from '../../src/options/gpu.ts';

describe('cost', () => {
  it('the cost of a run is cold start and run seconds at the price of the GPU that was used', () => {
    expect(costOf({ L4: 0.5 }, 'L4', { coldStart: 2, run: 4 })).toBe(3);
    expect(costOf({}, 'T4', { run: 1 })).toBe(0.00018);
  });

  it('the cost of a run is nothing where the GPU or its price is not known', () => {
    expect(costOf({}, 'Z9', { run: 1 })).toBe(0);
    expect(costOf({}, undefined, {})).toBe(0);
  });
});

describe('names', () => {
  it('the GPUs are those of the specification, to the letter', () => {
    expect(isGpu('A100-80GB')).toBe(true);
    expect(isGpu('a100')).toBe(false);
  });
});
