// Checks answers of a running service against its document.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { request } from 'undici';

export type JsonSchema = Readonly<Record<string, unknown>>;
type Media = { readonly schema?: JsonSchema };
type Content = Readonly<Record<string, Media>>;
export type OperationOf = {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
export type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationOf>>>>;
  readonly webhooks: object;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};
type Answer = { readonly status: number; readonly headers: object; readonly text: string };

export type Documented = {
  readonly document: Document;
  /** A validator for the schema at this path of the document. */
  schemaOf(pointer: string): ValidateFunction;
  /** How the answer differs from the operation's documentation; undefined if it does not. */
  contradiction(method: string, path: string, answer: Answer): string | undefined;
};

export async function openDocument(url: string): Promise<Documented> {
  const answer = await request(`${url}/api/openapi.json`);
  const document = (await answer.body.json()) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // The package's types only support a CommonJS import.
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addSchema({ ...document, $id: 'document' });

  const schemaOf = (pointer: string): ValidateFunction =>
    ajv.getSchema(`document#${pointer}`) ?? ajv.compile({ $ref: `document#${pointer}` });

  return {
    document,
    schemaOf,
    contradiction(method, path, { status, headers, text }) {
      const place = `${method} ${path} ${status}`;
      const content = document.paths[path]?.[method]?.responses[status]?.content;
      if (content === undefined) return `${place} is not documented: ${text}`;
      const type = String((headers as Record<string, unknown>)['content-type']).split(';', 1)[0] ?? '';
      if (!(type in content)) return `${place} is documented without ${type}`;
      if (type !== 'application/json') return undefined;
      const escaped = [path, type].map((part) => encodeURIComponent(part.replaceAll('/', '~1')));
      const valid = schemaOf(
        `/paths/${escaped[0]}/${method}/responses/${status}/content/${escaped[1]}/schema`,
      );
      return valid(JSON.parse(text))
        ? undefined
        : `${place} contradicts the document: ${ajv.errorsText(valid.errors)} in ${text}`;
    },
  };
}
