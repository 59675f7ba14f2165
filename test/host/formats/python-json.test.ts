import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJson, plainJson } from '../../../src/host/formats/python-json.ts';
import { jsonIn } from '../../../src/run-service/executors/http.ts';
import { growthOf, MAX_LINEAR } from '../../stage/growth.ts';

it.each([
  ['{"a":NaN,"b":[-Infinity,Infinity]}', '{"a":null,"b":[null,null]}'],
  [String.raw`{"NaN":"NaN \" NaN","b":"\\","c":NaN}`, String.raw`{"NaN":"NaN \" NaN","b":"\\","c":null}`],
  ['[NaNs,aNaN]', '[NaNs,aNaN]'],
  ['{"a":1}', '{"a":1}'],
])('the JSON of Python %s is read as %s', (text, plain) => {
  expect(plainJson(text)).toBe(plain);
});

it('strings of JSON stay what they are beside NaN, whatever they hold', () => {
  const piece = fc.constantFrom('NaN', '-Infinity', '"', '\\', ' ', '\n', 'é', '{', ':');
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const odd = texts.map((part) => `${JSON.stringify(part)},NaN,-Infinity`).join();
      expect(JSON.parse(plainJson(`[${odd}]`))).toEqual(texts.flatMap((part) => [part, null, null]));
    }),
  );
});

it.each([
  ['escaped quotes that never end', '{"x":NaN,"y":"', String.raw`\"`],
  ['escaped quotes and NaN', '{"1":{"class_type":"A","inputs":{"x":NaN,"y":"', String.raw`\"NaN`],
  ['quotes', 'NaN', '"'],
  ['signs of minus', 'NaN', '-'],
  ['backslashes', 'NaN"', '\\'],
])('a text of %s that is no JSON is given up in time that grows with its length', async (_, head, piece) => {
  const made = (size: number): string => head + piece.repeat(size);
  expect(await growthOf(4_000, made, isJson)).toBeLessThan(MAX_LINEAR);
  expect(await growthOf(4_000, made, jsonIn)).toBeLessThan(MAX_LINEAR);
});
