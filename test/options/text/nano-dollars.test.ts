import { describe, expect, it } from 'vitest';
import { MAX_COST_LIMIT_NANO, upToCent } from '../../../src/options/bounds-and-defaults.ts';
import { nanoOf, usdOf } from '../../../src/options/text/printed-numbers.ts';

describe('nano-dollars', () => {
  it('are whole, although a decimal fraction of dollars is not exact in binary', () => {
    expect(nanoOf(0.1 + 0.2)).toBe(300_000_000);
    expect(usdOf(nanoOf(7.5))).toBe(7.5);
  });

  it('are rounded up to a whole cent, but never above the highest limit', () => {
    expect(upToCent(1)).toBe(10_000_000);
    expect(upToCent(20_000_000)).toBe(20_000_000);
    expect(upToCent(MAX_COST_LIMIT_NANO + 1)).toBe(MAX_COST_LIMIT_NANO);
  });
});
