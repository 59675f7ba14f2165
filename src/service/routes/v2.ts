// The three endpoints of a run: queue it, read it, cancel it.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { PATHS, runPathSchema, runQuerySchema } from '../../run-service/contract/paths.ts';
import type { Service } from '../service.ts';
import { showRun } from './misreported-runs.ts';
import { queueing } from './queue.ts';
import { forbidden, notFound, readOrRefuse, route } from './refusals.ts';

const CANCELLED = { status: 'success', message: 'Function cancelled' };

export function serveRuns(app: FastifyInstance, service: Service): void {
  let asked = 0;
  route(app, ['POST'], PATHS.queue, queueing(service));

  const readRun = (id: string | undefined, owner: string, reply: FastifyReply): FastifyReply => {
    service.seen('get');
    if (id === undefined) return reply;
    const row = service.database.find(id);
    if (row === undefined) return notFound(reply, 'Run not found');
    if (row.owner !== owner) return forbidden(reply);
    asked += 1;
    return showRun(service, row, asked, reply);
  };

  route(app, ['GET'], PATHS.run, (request, reply) =>
    readRun(readOrRefuse(reply, runPathSchema, 'path', request.params), request.owner, reply),
  );
  route(app, ['GET'], PATHS.runByQuery, (request, reply) =>
    readRun(readOrRefuse(reply, runQuerySchema, 'query', request.query), request.owner, reply),
  );

  route(app, ['POST'], PATHS.cancel, (request, reply) => {
    service.seen('cancel');
    const id = readOrRefuse(reply, runPathSchema, 'path', request.params);
    if (id === undefined) return reply;
    const row = service.database.find(id);
    if (row !== undefined && row.owner !== request.owner) return forbidden(reply);
    return service.runs.cancel(id) ? reply.send(CANCELLED) : notFound(reply, 'Run not found');
  });
}
