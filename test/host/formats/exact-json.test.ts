import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { integerFrom, isRawNumber, parseExactly } from '../../../src/host/formats/exact-json.ts';

describe('digits', () => {
  it('come back as they were written, at any length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
        const text = `{"seed":${integer}}`;
        expect(JSON.stringify(parseExactly(text))).toBe(text);
        expect(JSON.stringify(integerFrom(String(integer)))).toBe(String(integer));
      }),
    );
  });

  it('leave small integers, decimals and strings what they are', () => {
    expect(parseExactly('{"a":7,"b":1.5,"c":"18446744073709551615","d":[true,null]}')).toEqual({
      a: 7,
      b: 1.5,
      c: '18446744073709551615',
      d: [true, null],
    });
    expect(parseExactly('[1234567890.1234567, 12345678901234567e3]')).toEqual([
      1234567890.1234567, 12345678901234567e3,
    ]);
  });

  it('are no integer where text spells anything else', () => {
    for (const text of ['', '007', '1.0', '1e3', '+1', ' 1', '0x1', '--1', '１'])
      expect(integerFrom(text)).toBeUndefined();
    expect(integerFrom('-12')).toBe(-12);
    expect(JSON.stringify(integerFrom('-0'))).toBe('-0');
  });

  it('beyond 2^53 are distinguished from numbers', () => {
    expect(isRawNumber(integerFrom('9007199254740993'))).toBe(true);
    expect(isRawNumber(5)).toBe(false);
  });

  it('in broken JSON are a syntax error', () => {
    expect(() => parseExactly('{"seed":18446744073709551615')).toThrow(SyntaxError);
  });
});
