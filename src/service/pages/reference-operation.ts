// Renders one operation of the reference page: its parameters, a shell command, and all its answers.

import { Html, html } from './html.ts';
import { fieldsTable, nameOf, rowOf, rowsOf, typeOf, paragraphOf, type Schema } from './reference-schema.ts';

type Media = { readonly schema?: Schema; readonly example?: unknown };
type Content = Readonly<Record<string, Media>>;
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
};
export type OperationObject = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
};
export type Placed = {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationObject;
};

/** `schemas` are the document's, by name. */
export function operationSection(
  { path, method, operation }: Placed,
  schemas: Readonly<Record<string, Schema>>,
): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  return html`<article id="${operationId}">
    <h3><a href="#${operationId}">${summary}</a></h3>
    <p class="address"><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code></p>
    <p>${paragraphOf(description)}</p>
    <p class="soft">${security?.length === 0 ? 'Needs no token.' : 'Needs a token.'}</p>
    ${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
        ${fieldsTable(parameters.map(parameterRow))}`
    }
    ${
      requestBody !== undefined &&
      html`<h4>Body</h4>
        ${contentBlock(spelledOut(requestBody.content, schemas))}`
    }
    <h4>From a shell</h4>
    <pre tabindex="0">${curlOf({ path, method, operation })}</pre>
    <h4>Answers</h4>
    ${Object.entries(responses).map(([status, answer]) => answerBlock(status, answer))}
  </article>`;
}

const parameterRow = ({ name, in: place, required, schema = {}, description }: Parameter): Html =>
  rowOf(
    name,
    { ...schema, description: `in the ${place}: ${description ?? schema.description ?? ''}` },
    required === true,
  );

const answerBlock = (status: string, answer: OperationObject['responses'][string]): Html =>
  html`<details ${new Html(status === '200' ? 'open' : '')}>
    <summary><b class="status-${status[0]}">${status}</b> ${paragraphOf(answer.description)}</summary>
    ${answer.content !== undefined && contentBlock(answer.content)}
  </details>`;

/** Shows the fields of a named schema directly. */
const spelledOut = (content: Content, schemas: Readonly<Record<string, Schema>>): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      { ...media, schema: { ...media.schema, ...schemas[nameOf(media.schema?.$ref ?? '')] } },
    ]),
  );

const contentBlock = (content: Content): Html =>
  html`${Object.entries(content).map(
    ([type, { schema, example }]) =>
      html`<p><code>${type}</code>${schema && html`: ${typeOf(schema)}`}</p>
        ${rowsOf(schema ?? {}).length > 0 && fieldsTable(rowsOf(schema ?? {}))}
        ${example !== undefined && html`<pre tabindex="0">${asText(example)}</pre>`}`,
  )}`;

const asText = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example, undefined, 2);

/** A curl command; the user sets the variables. */
function curlOf({ path, method, operation }: Placed): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => variable(name));
  const query = (operation.parameters ?? [])
    .filter(({ in: place, required }) => place === 'query' && required === true)
    .map(({ name }) => `${name}=${variable(name)}`)
    .join('&');
  const [media] = Object.entries(operation.requestBody?.content ?? {});
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$ORIGIN${filled}${query && `?${query}`}"`,
    operation.security?.length !== 0 && '-H "Authorization: Bearer $TOKEN"',
    media !== undefined && `-H "Content-Type: ${media[0]}"`,
    media !== undefined && `-d '${JSON.stringify(media[1].example)}'`,
  ]
    .filter((part) => part !== false)
    .join(' \\\n  ');
}

const variable = (name: string): string => `$${name.toUpperCase()}`;
