// Control routes for tests, which the real service lacks: set faults, revoke a token, read the true state.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { RunsheetError } from '../../errors/error.ts';
import { CONTROL, type Tokens } from '../auth.ts';
import type { LivingService } from '../service.ts';
import { notFound, route } from './refusals.ts';

export function serveControl(app: FastifyInstance, service: LivingService, tokens: Tokens): void {
  route(app, ['GET', 'PUT'], `${CONTROL}/faults`, (request, reply) => {
    if (request.method === 'PUT') {
      const refused = setFaults(service, request.body);
      if (refused !== undefined) return reply.code(422).send({ detail: refused });
    }
    return reply.send({ rates: service.faults.rates(), struck: service.faults.counts() });
  });

  route(app, ['POST'], `${CONTROL}/tokens/:token/revoke`, (request, reply) => {
    const { token } = request.params as { readonly token: string };
    return tokens.revoke(token) ? reply.send({ revoked: true }) : notFound(reply, 'Token not found');
  });

  route(app, ['GET'], `${CONTROL}/ledger`, (_request, reply): FastifyReply =>
    reply.send({ ...service.stats(), sold: service.database.sold(), runs: service.database.byStatus() }),
  );
}

/** Sets the rates; returns why they were refused, undefined on success. */
function setFaults({ faults }: LivingService, body: unknown): string | undefined {
  try {
    const rates = JSON.parse(typeof body === 'string' ? body : '') as Record<string, number>;
    faults.set(rates);
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError || error instanceof SyntaxError) return error.message;
    throw error;
  }
}
