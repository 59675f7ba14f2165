import { expect, it } from 'vitest';
import { count, money, plural, rounded } from '../../src/options/number-text.ts';

it('counts have separators, and one thing has no s', () => {
  expect([count(12_345), plural(1, 'row'), plural(2_000, 'row'), plural(2, 'entry', 'entries')]).toEqual([
    '12,345',
    '1 row',
    '2,000 rows',
    '2 entries',
  ]);
});

it('a small amount of money shows four digits, another one cents, and files have millionths', () => {
  expect([money(0), money(0.0123), money(0.1), rounded(0.123_456_789)]).toEqual([
    '$0.00',
    '$0.0123',
    '$0.10',
    0.123_457,
  ]);
});
