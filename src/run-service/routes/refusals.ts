// The errors of this server: 404, 405, 422 and 500 with the real service's texts.

import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RouteHandlerMethod,
} from 'fastify';
import type { z } from 'zod';
import { refusalsOf, type Refusal } from '../../service-client/contract/refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route only refuses. */
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
  reply.code(404).send({ detail: what });

export const forbidden = (): Refused => new Refused(403, 'You are not authorized to access this resource');

/** Thrown by a route whose request is refused. */
export class Refused extends Error {
  readonly statusCode: number;
  readonly detail: string | readonly Refusal[];

  constructor(statusCode: number, detail: Refused['detail']) {
    super();
    [this.statusCode, this.detail] = [statusCode, detail];
  }
}

/** Parses a part of the address with `schema`. Throws {@link Refused} for an invalid one. */
export function read<Schema extends z.ZodType>(
  { params, query }: FastifyRequest,
  part: 'path' | 'query',
  schema: Schema,
): z.output<Schema> {
  const raw = part === 'path' ? params : query;
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  throw new Refused(422, refusalsOf(result.error, part, raw));
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
    reply.code(405).header('allow', methods.join(', ')).send({ detail: 'Method Not Allowed' });
  const otherMethods = METHODS.filter((method) => !methods.includes(method));
  // Refuses before the body is read.
  app.route({
    method: otherMethods,
    url,
    config: { refuses: true },
    onRequest: (request, reply) => void refuse(request, reply),
    handler: refuse,
  });
}

/** Answers all requests without a route. Errors of the server itself are logged. */
export function refuseTheRest(
  app: FastifyInstance,
  log: (event: string, facts: Record<string, unknown>) => void,
): void {
  // Refused before the body is read, because a body could fill the memory and no key is needed to get here.
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? void notFound(reply) : done()));
  app.setNotFoundHandler((_request, reply) => notFound(reply));
  app.setErrorHandler((error: FastifyError | Refused, request, reply) => {
    if (error instanceof Refused) return reply.code(error.statusCode).send({ detail: error.detail });
    const status = error.statusCode ?? 500;
    // Fastify itself answers 4xx to unreadable requests: a body that is too large, an invalid length.
    if (status < 500) return reply.code(status).send({ detail: error.message });
    log('error', { method: request.method, path: request.routeOptions.url, reason: error.stack });
    return reply.code(500).type('text/plain; charset=utf-8').send('Internal Server Error');
  });
}
