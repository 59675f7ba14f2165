// The inputs of a program or a model, from the JSON Schema that describes them.

import { isRawNumber } from '../../../host/formats/exact-json.ts';
import type { InputType } from './workflow.ts';

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** References that lead in a circle end here. */
const MAX_DEPTH = 20;

/**
 * The properties of an object schema, in their order. `document` is the whole document in which `$ref`
 * leads. Returns undefined for a schema without properties, which describes nothing.
 */
export function describedInputs(
  schema: unknown,
  document: unknown = schema,
): readonly InputType[] | undefined {
  const root = resolved(schema, document);
  const { properties, required } = root;
  if (!isSchema(properties)) return undefined;
  const names = new Set(Array.isArray(required) ? required : []);
  const inputs = Object.entries(properties).map(([name, property]) => {
    const own = resolved(property, document);
    return {
      order: typeof own['x-order'] === 'number' ? own['x-order'] : Number.NaN,
      input: inputOf(name, own, names.has(name)),
    };
  });
  return inputs.toSorted((a, b) => a.order - b.order || 0).map(({ input }) => input);
}

/** A schema with its references and single alternatives merged into one. */
function resolved(schema: unknown, document: unknown, depth = 0): Schema {
  if (!isSchema(schema) || depth > MAX_DEPTH) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof reference === 'string' ? [at(document, reference)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    // A value that may also be null is not required to be anything else.
    ...[anyOf, oneOf].flatMap((options) => {
      const values = Array.isArray(options) ? options.filter((option) => !isNull(option)) : [];
      return values.length === 1 ? values : [];
    }),
  ];
  return Object.assign({}, ...parts.map((part) => resolved(part, document, depth + 1)), own) as Schema;
}

const isNull = (option: unknown): boolean => isSchema(option) && option['type'] === 'null';

function at(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const words = reference.slice(2).split('/');
  return words.reduce<unknown>((value, word) => {
    const key = decoded(word).replaceAll('~1', '/').replaceAll('~0', '~');
    return isSchema(value) ? value[key] : undefined;
  }, document);
}

/** A reference with a stray % is taken as it is. */
function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

function inputOf(name: string, schema: Schema, isRequired: boolean): InputType {
  const options = optionsOf(schema);
  const type = options === undefined ? typeOf(name, schema) : 'enum';
  return {
    name,
    type,
    default: schema['default'],
    min: boundOf(schema['minimum']),
    max: boundOf(schema['maximum']),
    options,
    fields: [{ node: '', field: name, isFile: FILES.has(type) }],
    ...(isRequired && schema['default'] === undefined && { isUnset: true as const }),
  };
}

function optionsOf({ enum: values }: Schema): readonly string[] | undefined {
  return Array.isArray(values) ? values.filter((value) => value !== null).map(textOf) : undefined;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

const FILES: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'file']);
const KIND = /^(image|video|audio)\b/i;

/** A text that holds an address is a file; its kind follows from the media type, else from its name. */
function typeOf(name: string, { type, format, contentMediaType }: Schema): string {
  const single = [type].flat().find((each) => each !== 'null');
  if (typeof contentMediaType === 'string') return KIND.exec(contentMediaType)?.[1]?.toLowerCase() ?? 'file';
  if (single === 'string' && (format === 'uri' || format === 'binary' || format === 'path'))
    return /image|picture|photo|mask|frame/i.test(name)
      ? 'image'
      : /video/i.test(name)
        ? 'video'
        : /audio|voice|sound|speech/i.test(name)
          ? 'audio'
          : 'file';
  return (typeof single === 'string' ? TYPES[single] : undefined) ?? 'json';
}

/** A text with all digits, because a seed may have 64 bits. */
function boundOf(bound: unknown): string | undefined {
  if (isRawNumber(bound)) return bound.rawJSON;
  return typeof bound === 'number' ? String(bound) : undefined;
}
