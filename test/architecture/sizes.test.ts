import { expect, it } from 'vitest';
import { sizesOf } from './sizes.ts';

/** Sizes may shrink. A change that needs a larger one says why in its commit. */
const MOST = {
  'lines of the product': 107_436,
  'lines that runsheet prints': 60,
  'lines of run --help': 45,
  'flags of run': 92,
  'bytes of README.md': 8_192,
  'bytes of ARCHITECTURE.md': 10_240,
} as const;

it('the sizes that a reader feels stay within their bounds', () => {
  const sizes = sizesOf();
  const larger = Object.entries(MOST).flatMap(([name, most]) => {
    const size = sizes[name as keyof typeof MOST];
    return size > most ? [`${name}: ${size}, at most ${most}`] : [];
  });
  expect(larger).toEqual([]);
}, 60_000);
