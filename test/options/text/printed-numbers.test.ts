import { expect, it } from 'vitest';
import {
  bytesText,
  count,
  exactMoney,
  money,
  plural,
  rounded,
  span,
} from '../../../src/options/text/printed-numbers.ts';

it('counts have separators, and one thing has no s', () => {
  expect([count(12_345), plural(1, 'row'), plural(2_000, 'row'), plural(2, 'entry', 'entries')]).toEqual([
    '12,345',
    '1 row',
    '2,000 rows',
    '2 entries',
  ]);
});

it.each([
  [0, '$0.00'],
  [0.000_01, '<$0.0001'],
  [0.0123, '$0.0123'],
  [0.1, '$0.10'],
  [1_234.5, '$1,234.50'],
])('a cost of %d is shown as %s', (usd, text) => {
  expect(money(usd)).toBe(text);
});

it.each([
  [20e9, '$20.00'],
  [19.95e9, '$19.95'],
  [19.5e9, '$19.50'],
  [202_200_000, '$0.2022'],
  [33_712, '$0.00'],
  [1e15, '$1,000,000.00'],
])('a limit of %d nano-dollars is shown as %s', (nano, text) => {
  expect(exactMoney(nano)).toBe(text);
});

it.each([
  [1, '1 byte'],
  [940, '940 bytes'],
  [3_400, '3.4 kB'],
  [12_000_000, '12 MB'],
  [3_400_000_000, '3.4 GB'],
])('%d bytes are shown as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

it.each([
  [0, '0.0 s'],
  [0.0201, '21 ms'],
  [4.23, '4.2 s'],
  [59.4, '59 s'],
  [185.9, '3 min 05 s'],
  [600.4, '10 min'],
  [7_800, '2 h 10 min'],
  [86_400, '24 h'],
  [3_600_360, '1,000 h 06 min'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(span(seconds)).toBe(text);
});

it('files have millionths of an amount', () => {
  expect(rounded(0.123_456_789)).toBe(0.123_457);
});
