// The OpenAPI 3.1 document of the service, made from the table of operations and the schemas of what the service sends.

import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { operationsFor, type Operation } from './operations.ts';
import { schemasFor, type Dialect, type Schemas } from './schemas.ts';

export type Bases = { readonly v1: string; readonly v2: string };

export function openApiDocument(dialect: Dialect, bases: Bases): ReturnType<typeof createDocument> {
  const schemas = schemasFor(dialect);
  const operations = operationsFor(schemas);
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Workflow Run Service',
        version: '2',
        description:
          'Executes deployed workflows on GPU-backed machines: a client queues a run for a deployment, receives the identifier of the new run, and reads the run by it. This is the local run service, which costs nothing.',
      },
      servers: [{ url: '/', description: 'this service' }],
      tags: [...new Set(operations.map(({ group }) => group))].map((name) => ({ name })),
      security: [{ token: [] }],
      components: {
        schemas,
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'A token of this service: Authorization: Bearer <ACCESS_TOKEN>',
          },
        },
      },
      paths: pathsOf(operations, bases),
      webhooks: { run: { post: webhook(schemas) } },
    },
    { override: withoutPattern },
  );
}

/** Keeps the format without its pattern: both mean the same, and the format is readable. */
function withoutPattern({ jsonSchema }: { readonly jsonSchema: { format?: unknown; pattern?: unknown } }) {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function pathsOf(operations: readonly Operation[], bases: Bases): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    const path = `${bases[operation.base ?? 'v2']}${operation.path}`.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method ?? 'get']: objectOf(operation) };
  }
  return paths;
}

const objectOf = (operation: Operation): ZodOpenApiOperationObject => ({
  operationId: operation.id,
  tags: [operation.group],
  summary: operation.summary,
  ...(operation.description !== undefined && { description: operation.description }),
  ...(operation.open === true && { security: [] }),
  ...(operation.base === 'v1' && { deprecated: true }),
  requestParams: {
    ...(operation.params && { path: operation.params }),
    ...(operation.query && { query: operation.query }),
  },
  ...(operation.body && { requestBody: { required: true, content: contentOf(operation.body) } }),
  responses: Object.fromEntries(
    Object.entries(operation.answers).map(([status, answer]) => [
      status,
      { description: answer.description, content: contentOf(answer) },
    ]),
  ),
});

const contentOf = ({ type, schema, parts, example }: NonNullable<Operation['body']>) => ({
  [type]: {
    ...(schema && { schema }),
    ...(parts && { encoding: encodingOf(parts) }),
    ...(example !== undefined && { example }),
  },
});

const encodingOf = (parts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(parts).map(([name, contentType]) => [name, { contentType }]));

const webhook = (schemas: Schemas): ZodOpenApiOperationObject => ({
  operationId: 'runWebhook',
  summary: 'The webhook of a run',
  description:
    'Sent for every change of status, and for progress where webhook_intermediate_status is true. Three tries, the second and third as GET with the same body. Webhooks are unsigned and unordered, and may arrive twice.',
  security: [],
  requestBody: { content: contentOf({ type: 'application/json', schema: schemas.Webhook }) },
  responses: { '200': { description: 'Any status below 400 ends the tries' } },
});
