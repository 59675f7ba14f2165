// How this server says no: 404, 405, 422 and 500 in the real service's words.

import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RouteHandlerMethod,
} from 'fastify';
import type { z } from 'zod';
import { refusalsOf, refusalToWire, type Refusal } from '../../run-service/contract/refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is there to say no. */
    refuses?: boolean;
  }
}

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
] as const satisfies HTTPMethods[];
type Method = (typeof METHODS)[number];

export const notFound = (reply: FastifyReply, what = 'Not Found'): FastifyReply =>
  reply.code(404).send(refusalToWire(what));

/** What belongs to another owner. */
export const forbidden = (reply: FastifyReply): FastifyReply =>
  reply.code(403).send(refusalToWire('You are not authorized to access this resource'));

export const unprocessable = (reply: FastifyReply, problems: readonly Refusal[]): FastifyReply =>
  reply.code(422).send(refusalToWire(problems));

/** What `schema` reads from a part of the address; undefined when it was refused, which has then been answered. */
export function readOrRefuse<Schema extends z.ZodType>(
  reply: FastifyReply,
  schema: Schema,
  part: 'path' | 'query',
  given: unknown,
): z.output<Schema> | undefined {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  unprocessable(reply, refusalsOf(read.error, part, given));
  return undefined;
}

/** Serves `url` for these methods and answers 405 to all others. */
export function route(
  app: FastifyInstance,
  methods: readonly Method[],
  url: string,
  handler: RouteHandlerMethod,
): void {
  app.route({ method: [...methods], url, handler });
  const refuse = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(405).header('allow', methods.join(', ')).send(refusalToWire('Method Not Allowed'));
  const others = METHODS.filter((method) => !methods.includes(method));
  // Refused before the body is read: nobody wants it.
  app.route({
    method: others,
    url,
    config: { refuses: true },
    onRequest: (request, reply) => void refuse(request, reply),
    handler: refuse,
  });
}

/** Answers for everything that no route answers. `log` is told of errors that are the server's own. */
export function refuseTheRest(
  app: FastifyInstance,
  log: (event: string, facts: Record<string, unknown>) => void,
): void {
  app.setNotFoundHandler((_request, reply) => notFound(reply));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    // The framework refuses with 4xx what it could not read: a body that is too large, a broken length.
    if (status < 500) return reply.code(status).send(refusalToWire(error.message));
    log('error', { method: request.method, path: request.routeOptions.url, reason: error.stack });
    return reply.code(500).type('text/plain; charset=utf-8').send('Internal Server Error');
  });
}
