// Generates requests for an operation: valid, nearly valid, and arbitrary ones.

import fc from 'fast-check';
import { z } from 'zod';
import type { Operation } from '../../src/run-service/operations.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A request on the wire, and whether its operation must accept it. */
export type Fuzzed = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly isValid: boolean;
};

/** Values for meaningful requests: existing ids, and known and unknown tokens. */
export type Known = {
  readonly ids: readonly string[];
  readonly token: string;
  readonly otherTokens: readonly string[];
};

type Part<Value> = { readonly value: Value; readonly isValid: boolean };
const good = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Part<Value>> =>
  values.map((value) => ({ value, isValid: true }));
const bad = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Part<Value>> =>
  values.map((value) => ({ value, isValid: false }));
const mostly = <Value>(
  often: fc.Arbitrary<Part<Value>>,
  seldom: fc.Arbitrary<Part<Value>>,
): fc.Arbitrary<Part<Value>> => fc.oneof({ arbitrary: often, weight: 4 }, { arbitrary: seldom, weight: 1 });

export function requestsFor(operation: Operation, facts: Known): fc.Arbitrary<Fuzzed> {
  const [method = '', path = ''] = operation.route.split(' ');
  const values = valuesOf(facts);
  const pathParts = parametersOf(operation.params);
  const queryParts = parametersOf(operation.query);
  return fc
    .record({
      inPath: fc.tuple(
        ...pathParts.map(({ schema }) => mostly(good(values(schema).map(encoded)), bad(wildSegment))),
      ),
      inQuery: fc.tuple(...queryParts.map((part) => queryPart(part, values))),
      token: tokenPart(facts),
      body: bodyPart(operation, values),
      more: fc.dictionary(fc.constantFrom('accept', 'x-anything', 'if-none-match'), headerText, {
        maxKeys: 1,
      }),
    })
    .map(({ inPath, inQuery, token, body, more }) => {
      let way = path;
      for (const { value } of inPath) way = way.replace(/:\w+/, () => value);
      const query = inQuery.flatMap(({ value }) => value).join('&');
      return {
        method,
        path: query === '' ? way : `${way}?${query}`,
        headers: { ...more, ...token.value, ...body.value.headers },
        body: body.value.body,
        isValid: [...inPath, ...inQuery, token, body].every(({ isValid }) => isValid),
      };
    });
}

/** The parameters of a schema, as they are before it reads them. */
function parametersOf(schema: z.ZodType | undefined) {
  const { properties = {}, required = [] } = schema ? written(schema) : {};
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => ({
    name,
    schema: property,
    isRequired: (required as readonly string[]).includes(name),
  }));
}

/** A schema that parses its input in a first step is written in the form of the actual schema. */
const written = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (!(zodSchema instanceof z.ZodPipe)) return;
      if (zodSchema.out instanceof z.ZodBoolean) jsonSchema.type = 'boolean';
      if (zodSchema.in instanceof z.ZodTransform)
        Object.assign(jsonSchema, written(zodSchema.out as z.ZodType));
    },
  });

const encoded = (value: unknown): string => encodeURIComponent(String(value));
const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.trim());
const anyText = fc.string({ unit: 'binary', maxLength: 40 });
/** Including text that no encoder would write. */
const wildSegment = fc.oneof(
  anyText.map(encoded),
  fc.string({ unit: fc.constantFrom(...'%2fF0.-_~aZ;:@$&+,='.split('')), maxLength: 12 }),
  fc.constant('a'.repeat(200)),
);

type Values = (schema: JsonSchema) => fc.Arbitrary<unknown>;

function queryPart(
  part: { readonly name: string; readonly isRequired: boolean; readonly schema: JsonSchema },
  values: Values,
): fc.Arbitrary<Part<readonly string[]>> {
  const pair = (value: string): string => `${part.name}=${value}`;
  const valid = good<readonly string[]>(values(part.schema).map((value) => [pair(encoded(value))]));
  const absent = fc.constant<Part<readonly string[]>>({ value: [], isValid: !part.isRequired });
  const wild = bad<readonly string[]>(fc.array(wildSegment.map(pair), { minLength: 1, maxLength: 2 }));
  return mostly(valid, fc.oneof(absent, wild));
}

const tokenPart = ({ token, otherTokens }: Known): fc.Arbitrary<Part<Record<string, string>>> =>
  fc.oneof(
    { arbitrary: good(fc.constant({ authorization: `Bearer ${token}` })), weight: 8 },
    {
      arbitrary: bad(
        fc.constantFrom(...otherTokens.map((bearer) => ({ authorization: `Bearer ${bearer}` }))),
      ),
      weight: 1,
    },
    {
      arbitrary: bad(
        fc.oneof(
          fc.constant({}),
          headerText.map((text) => ({ authorization: text })),
        ),
      ),
      weight: 1,
    },
  );

type Body = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
};

function bodyPart({ body }: Operation, values: Values): fc.Arbitrary<Part<Body>> {
  if (body === undefined) return good(fc.constant({ headers: {}, body: undefined }));
  if (body === 'form') return multipartPart();
  const typed = (text: string | Uint8Array): Body => ({
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  const valid = values(written(body));
  return fc.oneof(
    { arbitrary: good(valid.map((value) => typed(JSON.stringify(value)))), weight: 4 },
    { arbitrary: bad(nearly(valid).map((value) => typed(JSON.stringify(value)))), weight: 4 },
    {
      arbitrary: bad(fc.tuple(valid, cut).map(([value, edit]) => typed(edit(JSON.stringify(value))))),
      weight: 1,
    },
    { arbitrary: bad(wildBody.map(typed)), weight: 1 },
    {
      arbitrary: bad(
        fc.tuple(valid, wildType).map(([value, headers]) => ({ headers, body: JSON.stringify(value) })),
      ),
      weight: 1,
    },
  );
}

const wildBody = fc.oneof(
  fc.constantFrom('', ' ', 'null', '[]', '"text"', '0', '{"a":1}{', '\uFEFF{}'),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 60 }),
);
const wildType = fc.oneof(
  fc.constantFrom<Record<string, string>[]>(
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/json; charset=utf-16' },
  ),
  headerText.map((text): Record<string, string> => ({ 'content-type': text })),
);
/** Cuts a text somewhere, or inserts a character. */
const cut = fc.tuple(fc.nat(200), fc.constantFrom('', '"', '}', ',', '\u0000', '\\u12')).map(
  ([at, sign]) =>
    (text: string) =>
      text.slice(0, at) + sign + (sign === '' ? '' : text.slice(at)),
);

/** A valid object with one field missing, of another type, or too many. */
const nearly = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid, fc.nat(20), fc.jsonValue({ maxDepth: 2 }), fc.boolean())
    .map(([value, nth, junk, drops]) => {
      if (typeof value !== 'object' || value === null) return junk;
      const names = Object.keys(value);
      const name = names[nth % (names.length + 1)] ?? 'surplus';
      const { [name]: _dropped, ...remaining } = value as Record<string, unknown>;
      return drops ? remaining : { ...remaining, [name]: junk };
    });

const BOUNDARY = 'fuzzed-boundary';
const formType = fc.constantFrom(
  `multipart/form-data; boundary=${BOUNDARY}`,
  `multipart/form-data; boundary=${BOUNDARY}`,
  'multipart/form-data',
  'application/json',
);
const multipartPart = (): fc.Arbitrary<Part<Body>> =>
  fc
    .record({
      name: fc.constantFrom('file', 'file', 'file', 'other', ''),
      filename: fc.constantFrom('a.png', 'a.png', '../a.png', '', 'a"b.png'),
      type: fc.constantFrom('image/png', 'image/png', 'text/plain', 'x'),
      content: anyText,
      ends: fc.constantFrom(true, true, false),
      formType,
    })
    .map(({ name, filename, type, content, ends, formType: header }) => ({
      isValid: [name, filename, type, ends, header.endsWith(BOUNDARY)].join() === VALID_FORM,
      value: {
        headers: { 'content-type': header },
        body: [
          `--${BOUNDARY}`,
          `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
          `Content-Type: ${type}`,
          '',
          content,
          ends ? `--${BOUNDARY}--\r\n` : '',
        ].join('\r\n'),
      },
    }));
const VALID_FORM = 'file,a.png,image/png,true,true';

/** Values that are valid for a schema. */
function valuesOf(facts: Known): Values {
  const ofType = (type: unknown, schema: JsonSchema): fc.Arbitrary<unknown> => {
    const { minimum = -(2 ** 53), maximum = 2 ** 53 } = schema as { minimum?: number; maximum?: number };
    switch (type) {
      case 'string':
        return texts(schema['format'], facts);
      case 'integer':
        return fc.oneof(
          fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 100) }),
          fc.constantFrom(minimum, Math.min(maximum, Number.MAX_SAFE_INTEGER)),
        );
      case 'number':
        return fc.double({ min: minimum, max: maximum, noNaN: true });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return fc.array(values((schema['items'] ?? {}) as JsonSchema), { maxLength: 4 });
      case 'object':
        return objects(schema);
      default:
        return fc.jsonValue({ maxDepth: 3 });
    }
  };
  const objects = (schema: JsonSchema): fc.Arbitrary<unknown> => {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
    const own = fc.record(
      Object.fromEntries(properties.map(([name, property]) => [name, values(property)])),
      {
        requiredKeys: (schema['required'] ?? []) as string[],
      },
    );
    const additional = schema['additionalProperties'];
    if (typeof additional !== 'object' || additional === null) return own;
    const surplus = fc.dictionary(anyText, values(additional as JsonSchema), {
      maxKeys: 4,
      noNullPrototype: true,
    });
    return fc.tuple(own, surplus).map(([named, more]) => ({ ...more, ...named }));
  };
  function values(schema: JsonSchema): fc.Arbitrary<unknown> {
    const { enum: choices, const: only, anyOf, type } = schema as Record<string, unknown>;
    if (only !== undefined) return fc.constant(only);
    if (Array.isArray(choices)) return fc.constantFrom(...(choices as unknown[]));
    if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as JsonSchema[]).map(values));
    if (Array.isArray(type)) return fc.oneof(...type.map((name) => ofType(name, schema)));
    return ofType(type, schema);
  }
  return values;
}

const texts = (format: unknown, { ids }: Known): fc.Arbitrary<string> =>
  format === 'uuid'
    ? fc.oneof({ arbitrary: fc.constantFrom(...ids), weight: 3 }, { arbitrary: anyUuid, weight: 1 })
    : anyText;

/** 128 bits of any version. */
const anyUuid = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'.split('')), minLength: 32, maxLength: 32 })
  .map((hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
