// Renders a JSON Schema as text and table rows, for the reference page.

import { html, type Html } from './html.ts';

/** The parts of JSON Schema that the document uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
};

export const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ref;

/** The type in a few words; a named schema is a link to it. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return joined(schema.anyOf.map(typeOf));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined)
    return html`one of
    ${schema.enum.map((one, index) => html`${index > 0 && ', '}<code>${String(one)}</code>`)}`;
  if (schema.type === 'array') return html`list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object') return objectWords(schema);
  return html`${schema.format ?? wordsOfType(schema.type)}`;
}

const wordsOfType = (type: Schema['type'] = 'anything'): string =>
  typeof type === 'string' ? type : type.join(' or ');

const joined = (types: readonly Html[]): Html =>
  html`${types.map((type, index) => html`${index > 0 && ' or '}${type}`)}`;

function objectWords({ properties, additionalProperties: others }: Schema): Html {
  if (properties !== undefined) return html`object`;
  const isFree = typeof others !== 'object' || Object.keys(others).length === 0;
  return isFree ? html`free-form object` : html`object of ${typeOf(others)}`;
}

/** A row for each field; nested fields follow with their path as the name. */
export function rowsOf(schema: Schema, way = ''): readonly Html[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    rowOf(`${way}${name}`, field, required.has(name)),
    ...below(field, `${way}${name}`),
  ]);
}

function below(field: Schema, way: string): readonly Html[] {
  if (field.properties !== undefined) return rowsOf(field, `${way}.`);
  if (field.items !== undefined) return below(field.items, `${way}[]`);
  return (field.anyOf ?? []).flatMap((one) => below(one, way));
}

export const rowOf = (name: string, field: Schema, isRequired: boolean): Html =>
  html`<tr>
    <td><code>${name}</code>${!isRequired && html` <i>optional</i>`}</td>
    <td>${typeOf(field)}${boundsOf(field)}</td>
    <td>${paragraphOf(field.description)}</td>
  </tr>`;

function boundsOf({ minimum, maximum, default: fallback }: Schema): Html | false {
  // For readers, a bound of the largest safe integer means no bound.
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const parts = [
    minimum !== undefined && `at least ${minimum}`,
    most !== undefined && `at most ${most}`,
    fallback !== undefined && `default ${JSON.stringify(fallback)}`,
  ].filter((part) => part !== false);
  return parts.length > 0 && html`<span class="soft">, ${parts.join(', ')}</span>`;
}

/** Text between backticks is code. */
export const paragraphOf = (text = ''): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

export const fieldsTable = (rows: readonly Html[]): Html =>
  html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">field</th>
          <th scope="col">type</th>
          <th scope="col">meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
