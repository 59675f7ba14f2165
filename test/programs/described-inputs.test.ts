// JSON Schemas of inputs as people write them: references, alternatives, enums, bounds of 64 bits.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExactly } from '../../src/host/formats/exact-json.ts';
import { describedInputs } from '../../src/run-service/executors/workflow/described-inputs.ts';

const typesOf = (schema: unknown) =>
  Object.fromEntries((describedInputs(schema) ?? []).map(({ name, type }) => [name, type]));

it('types, bounds, defaults and required inputs are read with all digits', () => {
  const schema = parseExactly(`{
    "type": "object",
    "properties": {
      "prompt": { "type": "string" },
      "seed": { "type": "integer", "minimum": 0, "maximum": 18446744073709551615 },
      "scale": { "type": ["number", "null"], "default": 7.5 },
      "style": { "enum": ["plain", "dark", null] },
      "photo": { "type": "string", "contentMediaType": "image/png" },
      "tiled": { "type": "boolean" }
    },
    "required": ["prompt", "scale"]
  }`);
  const inputs = describedInputs(schema) ?? [];
  expect(inputs.map(({ name, type, isUnset }) => [name, type, isUnset === true])).toEqual([
    ['prompt', 'string', true],
    ['seed', 'int', false],
    ['scale', 'float', false],
    ['style', 'enum', false],
    ['photo', 'image', false],
    ['tiled', 'bool', false],
  ]);
  expect([inputs[1]?.min, inputs[1]?.max, inputs[3]?.options]).toEqual([
    '0',
    '18446744073709551615',
    ['plain', 'dark'],
  ]);
  expect(inputs[4]?.fields[0]?.isFile).toBe(true);
});

it('references, single alternatives and x-order are followed', () => {
  const schema = {
    $defs: { size: { type: 'integer', minimum: 8 } },
    properties: {
      b: { $ref: '#/$defs/size', 'x-order': 2 },
      a: { anyOf: [{ type: 'number' }, { type: 'null' }], 'x-order': 1 },
      c: { allOf: [{ $ref: '#/$defs/size' }], default: 9, 'x-order': 3 },
    },
  };
  expect(Object.entries(typesOf(schema))).toEqual([
    ['a', 'float'],
    ['b', 'int'],
    ['c', 'int'],
  ]);
});

it('a schema that refers to itself, or describes nothing, ends', () => {
  expect(typesOf({ properties: { a: { $ref: '#/properties/a' } } })).toEqual({ a: 'json' });
  for (const schema of [{}, null, 3, [], 'text', { properties: [] }])
    expect(describedInputs(schema)).toBe(undefined);
});

it('any JSON is read without an error, and every property is one input', () => {
  const property = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array'),
          fc.jsonValue(),
        ),
        enum: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
        minimum: fc.oneof(fc.double(), fc.jsonValue()),
        format: fc.oneof(fc.constantFrom('uri', 'binary', 'path'), fc.jsonValue()),
        $ref: fc.constantFrom('#/properties/a', '#', '#/', 'http://elsewhere', '#/%zz', '#/properties/~1'),
        allOf: fc.array(fc.jsonValue(), { maxLength: 2 }),
        anyOf: fc.array(fc.jsonValue(), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), property), fc.jsonValue(), (properties, required) => {
      const inputs = describedInputs({ properties, required }) ?? [];
      expect(inputs.map(({ name }) => name).toSorted()).toEqual(Object.keys(properties).toSorted());
      for (const { type } of inputs)
        expect(type).toMatch(/^(string|int|float|bool|enum|json|image|video|audio|file)$/);
    }),
  );
});
