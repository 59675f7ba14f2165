// Serves the OpenAPI document, which is generated from the schemas that read requests and that tests hold
// answers against.

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { z } from 'zod';
import { version } from '../../host/package-version.ts';
import { PATHS } from '../../service-client/contract/paths.ts';
import { operationsOf, type Operation } from '../operations.ts';
import type { Service } from '../service.ts';
import { route } from './refusals.ts';

/**
 * Covers the routes that are registered after it. The routes read and refuse requests themselves; only the
 * document uses their schemas here.
 */
export function describeRoutes(app: FastifyInstance, { behaviour }: Service): void {
  let operations: ReadonlyMap<string, Operation> | undefined;
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Workflow Run Service of runsheet', version },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    // Called when the document is requested.
    transform: ({ url, route: { method, config } }) => {
      operations ??= new Map(operationsOf(behaviour.name).map((operation) => [operation.route, operation]));
      const operation = operations.get(`${[method].flat()[0]} ${url}`);
      const isShown = operation !== undefined && config?.refuses !== true;
      return { url, schema: isShown ? schemaOf(operation) : { hide: true } };
    },
  });
}

export function serveDocument(app: FastifyInstance): void {
  route(app, ['GET'], PATHS.openapi, (_request, reply) => reply.send(app.swagger()));
}

function schemaOf({ params, query, body, answers }: Operation): FastifySchema {
  return {
    ...(params && { params: shapeOf(params) }),
    ...(query && { querystring: shapeOf(query) }),
    ...(body &&
      (body === 'form' ? { consumes: ['multipart/form-data'], body: FORM } : { body: shapeOf(body) })),
    response: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        { description: DESCRIPTIONS[status] ?? 'Refused', ...(answer && shapeOf(answer)) },
      ]),
    ),
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Answered',
  401: 'No valid key',
  403: 'Not allowed, or not possible',
  404: 'Not found',
  422: 'A field of the request is invalid',
  429: 'Too many requests',
  500: 'The service failed',
};

const FORM = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', format: 'binary' } },
};

/** The JSON Schema of a request or an answer. */
function shapeOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A value that is first read leniently, such as an empty text.
      if (zodSchema instanceof z.ZodPipe && zodSchema.in instanceof z.ZodTransform)
        Object.assign(jsonSchema, shapeOf(zodSchema.out as z.ZodType));
    },
  });
  return shape;
}
