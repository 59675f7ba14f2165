import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOf, notAllowed, readText, readValue } from '../../src/sheet/parse-cell.ts';
import { input } from './laying.ts';

describe('a cell of text', () => {
  it.each([
    ['auto', '7', '7'],
    ['auto', '-0', '-0'],
    ['auto', '18446744073709551615', '18446744073709551615'],
    ['auto', '007', '"007"'],
    ['auto', '1.5', '"1.5"'],
    ['auto', 'true', '"true"'],
    ['auto', ' 7', '" 7"'],
    ['auto', 'a "b"\n', String.raw`"a \"b\"\n"`],
    ['string', '7', '"7"'],
    ['int', '30.0', '30'],
    ['int', '1234.000', '1234'],
    ['int', '18446744073709551616', '18446744073709551616'],
    ['float', '7', '7'],
    ['int', ' 30 ', '30'],
    ['float', '.5', '0.5'],
    ['float', '-.5', '-0.5'],
    ['float', '0.50', '0.5'],
    ['float', '-1e-3', '-0.001'],
    ['float', '123456789012345678901', '123456789012345678901'],
    ['bool', 'true', 'true'],
    ['bool', 'FALSE', 'false'],
    ['bool', ' Yes', 'true'],
    ['bool', 'no', 'false'],
    ['bool', '0', 'false'],
    ['bool', 'checked', 'true'],
    ['json', ' {"b": [1, 9007199254740993], "a": null} ', '{"a":null,"b":[1,9007199254740993]}'],
    ['json', '"x"', '"x"'],
  ] as const)('of kind %s: %j is %s', (kind, text, json) => {
    expect(readText(text, kind)).toBe(json);
  });

  it.each([
    ['int', '1.5', 'an integer'],
    ['int', '007', 'an integer'],
    ['int', '1e3', 'an integer'],
    ['int', '1.000', 'an integer that is clear'],
    ['int', '12.000.000', 'an integer that is clear'],
    ['int', 'twenty', 'an integer'],
    ['float', 'NaN', 'a finite number'],
    ['float', 'Infinity', 'a finite number'],
    ['float', '1e999', 'a number that can be sent'],
    ['float', '-1e-400', 'a number that can be sent'],
    ['float', '1,5', 'a finite number'],
    ['bool', 'x', 'a boolean'],
    ['bool', '2', 'a boolean'],
    ['json', '{a:1}', 'JSON'],
    ['json', '{"a":1,"a":2}', 'JSON'],
    ['json', `${'['.repeat(65)}${']'.repeat(65)}`, 'JSON'],
    ['json', '[1e999]', 'a number that can be sent'],
  ] as const)('of kind %s: %j is not %s', (kind, text, type) => {
    expect(readText(text, kind)).toMatchObject({ type });
  });

  it('of kind json: the error names the wrong character', () => {
    expect(readText('{"a": tru}', 'json')).toMatchObject({
      hint: 'character 7: expected a value, found tru',
    });
  });

  it('keeps all digits of a number', () => {
    fc.assert(
      fc.property(fc.bigInt(), (n) => {
        expect(readText(String(n), 'auto')).toBe(String(n));
      }),
    );
  });
});

describe('a value of JSON', () => {
  it.each([
    ['auto', 1.5, '1.5'],
    ['auto', true, 'true'],
    ['auto', '7', '"7"'],
    ['auto', '', '""'],
    ['auto', { b: 1, a: [null] }, '{"a":[null],"b":1}'],
    ['int', 1000, '1000'],
    ['int', '18446744073709551615', '18446744073709551615'],
    ['float', 3, '3'],
    ['bool', 'true', 'true'],
    ['json', 'x', '"x"'],
  ] as const)('of kind %s: %j is %s', (kind, value, json) => {
    expect(readValue(value, kind)).toBe(json);
  });

  it.each([
    ['string', 7, 'a string'],
    ['int', 1.5, 'an integer'],
    ['int', true, 'an integer'],
    ['bool', 1, 'a boolean'],
    ['auto', Infinity, 'a number that can be sent'],
    ['json', [{ a: -Infinity }], 'a number that can be sent'],
    ['auto', 'a\0b', 'text without NUL characters'],
    ['auto', { 'a\0': 1 }, 'text without NUL characters'],
    ['string', '\ud800', 'well-formed Unicode text'],
  ] as const)('of kind %s: %j is not %s', (kind, value, type) => {
    expect(readValue(value, kind)).toMatchObject({ type });
  });
});

describe('a type of the deployment', () => {
  it.each([
    ['string', 'string'],
    ['image', 'file'],
    ['ComfyUIDeployExternalImageAlpha', 'file'],
    ['Video', 'file'],
    ['enum', 'string'],
    ['checkpoint', 'string'],
    ['integer', 'int'],
    ['seed', 'int'],
    ['number', 'float'],
    ['Boolean', 'bool'],
    ['array', 'json'],
    ['ComfyUIDeployExternalNumberInt', 'int'],
    ['constructor', 'string'],
    ['hologram', 'string'],
  ])('%s is read as %s', (word, kind) => {
    expect(kindOf(word)).toBe(kind);
  });

  it('refuses a value outside its bounds', () => {
    const steps = input('steps', 'int', { min: 1, max: 40 });
    expect(notAllowed('40', steps)).toBeUndefined();
    expect(notAllowed('0', steps)).toMatchObject({ what: 'is too small', allowed: ['1 to 40'] });
    expect(notAllowed('41', steps)).toMatchObject({ what: 'is too large', allowed: ['1 to 40'] });
    expect(notAllowed('-1', input('n', 'int', { min: 0 }))).toMatchObject({ allowed: ['at least 0'] });
    expect(notAllowed('2', input('n', 'int', { max: 1 }))).toMatchObject({ allowed: ['at most 1'] });
    expect(notAllowed('"99"', steps)).toBeUndefined();
  });

  it('refuses an unknown option and names the nearest', () => {
    const style = input('style', 'enum', { options: ['photo', 'oil'] });
    expect(notAllowed('"oil"', style)).toBeUndefined();
    expect(notAllowed('"foto"', style)).toMatchObject({ allowed: ['photo', 'oil'], near: 'photo' });
  });
});
