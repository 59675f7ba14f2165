// Serves the OpenAPI document, as JSON and as a page.

import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../run-service/contract/openapi/document.ts';
import { PATHS } from '../../run-service/contract/paths.ts';
import { API, V1 } from '../auth.ts';
import { sendPage } from '../pages/page.ts';
import { referencePage } from '../pages/reference.ts';
import type { Service } from '../service.ts';
import { route } from './refusals.ts';

export function serveReference(app: FastifyInstance, { behaviour }: Service): void {
  // Created on the first request, because most services never get one.
  const document = once(() => openApiDocument(behaviour, { v1: V1, v2: API }));
  const text = once(() => JSON.stringify(document()));
  const page = once(() => referencePage(document()));
  route(app, ['GET'], PATHS.openapi, (_request, reply) => reply.type('application/json').send(text()));
  route(app, ['GET'], PATHS.docs, (_request, reply) => sendPage(reply, page()));
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
