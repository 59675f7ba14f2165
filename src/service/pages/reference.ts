// Renders the reference page from the OpenAPI document, on the server: every ready-made page is larger than this whole package,
// and loads fonts and more from other hosts.

import type { OpenApiDocument } from '../../run-service/contract/openapi/document.ts';
import { html, type Html } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';
import { pageOf, type Page } from './page.ts';
import { operationSection, type OperationObject, type Placed } from './reference-operation.ts';
import { fieldsTable, rowsOf, typeOf, paragraphOf, type Schema } from './reference-schema.ts';
import { REFERENCE_STYLE } from './reference-style.ts';

type PathItems = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

export function referencePage(document: OpenApiDocument): Page {
  const placed = Object.entries(document.paths as PathItems).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = (document.tags ?? []).map(({ name }) => ({
    name,
    placed: placed.filter(({ operation }) => operation.tags[0] === name),
  }));
  const named = (document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
  const webhook = (document.webhooks as PathItems)['run']?.['post'];
  const body = html`<header>
      <h1>${document.info.title}</h1>
      <p>${document.info.description}</p>
      <p>
        The same as <a href="openapi.json">OpenAPI 3.1</a>. A token is sent as
        <code>Authorization: Bearer $TOKEN</code>; <code>$ORIGIN</code> is where this page is.
        <a href="/">Machines and runs, live</a>.
      </p>
    </header>
    <nav aria-label="Operations">
      ${groups.map(groupLinks)}
      <h2>More</h2>
      <ul>
        <li><a href="#runWebhook">Webhook</a></li>
        <li><a href="#schemas">Schemas</a></li>
      </ul>
    </nav>
    <main>
      ${groups.map(
        (group) =>
          html`<h2>${group.name}</h2>
            ${group.placed.map((one) => operationSection(one, named))}`,
      )}
      ${webhook !== undefined && webhookSection(webhook)}
      <h2 id="schemas">Schemas</h2>
      ${Object.entries(named).map(schemaSection)}
    </main>`;
  return pageOf({ title: document.info.title, style: PAGE_STYLE + REFERENCE_STYLE, body });
}

const groupLinks = ({ name, placed }: { readonly name: string; readonly placed: readonly Placed[] }): Html =>
  html`<h2>${name}</h2>
    <ul>
      ${placed.map(
        ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
      )}
    </ul>`;

function webhookSection(webhook: OperationObject): Html {
  const example = Object.values(webhook.requestBody?.content ?? {})[0]?.example;
  return html`<h2>Webhook</h2>
    <article id="${webhook.operationId}">
      <h3>${webhook.summary}</h3>
      <p>${paragraphOf(webhook.description)}</p>
      <p>The body is a <a href="#schema-Webhook">Webhook</a>.</p>
      <pre tabindex="0">${JSON.stringify(example, undefined, 2)}</pre>
    </article>`;
}

const schemaSection = ([name, schema]: readonly [string, Schema]): Html => {
  const rows = rowsOf(schema);
  return html`<article id="schema-${name}">
    <h3><a href="#schema-${name}">${name}</a></h3>
    <p>${paragraphOf(schema.description)}</p>
    ${rows.length > 0 ? fieldsTable(rows) : html`<p>${typeOf(schema)}</p>`}
  </article>`;
};
