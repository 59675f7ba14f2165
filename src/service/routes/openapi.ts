// Serves the OpenAPI document of the service, which is made from the schemas that its requests are read with and its answers are
// tested by.

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import { z } from 'zod';
import { version } from '../../host/package-version.ts';
import { PATHS } from '../../run-service/contract/paths.ts';
import { operationsOf, type Operation } from '../operations.ts';
import type { Service } from '../service.ts';
import { route } from './refusals.ts';

const TAG = 'runs';

/** Describes each operation that is registered after it. Routes read and refuse requests themselves, so nothing is validated twice. */
export function describeRoutes(app: FastifyInstance, { behaviour }: Service): void {
  const operations = new Map(operationsOf(behaviour.name).map((one) => [one.route, one]));
  void app.register(swagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Workflow Run Service of runsheet', version },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
  });
  app.addHook('onRoute', (options) => {
    const operation = operations.get(`${[options.method].flat()[0]} ${options.url}`);
    if (operation !== undefined && options.config?.refuses !== true) describe(options, operation);
  });
}

export function serveDocument(app: FastifyInstance): void {
  route(app, ['GET'], PATHS.openapi, (_request, reply) => reply.send(app.swagger()));
}

function describe(options: RouteOptions, operation: Operation): void {
  options.schema = schemaOf(operation);
  options.validatorCompiler = () => () => true;
  options.serializerCompiler = () => (answer) => JSON.stringify(answer);
}

function schemaOf({ params, query, body, answers }: Operation): FastifySchema {
  return {
    tags: [TAG],
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
      // A value that is read leniently first, such as an empty text.
      if (zodSchema instanceof z.ZodPipe && zodSchema.in instanceof z.ZodTransform)
        Object.assign(jsonSchema, shapeOf(zodSchema.out as z.ZodType));
    },
  });
  return shape;
}
