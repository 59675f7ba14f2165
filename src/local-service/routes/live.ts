// The page for people on this machine. It needs no token, so that it shows nothing to anyone else: not where the service
// listens beyond this machine, and not to a page of another site whose name was bent to lead here.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { liveOf } from '../live.ts';
import { livePage } from '../pages/live.ts';
import { sendPage } from '../pages/page.ts';
import type { Service } from '../service.ts';
import { isLoopback } from '../webhook-target.ts';
import { painter, pictureAt } from './files.ts';
import { notFound, route } from './refusals.ts';

const SENTENCE =
  'This page shows the runs of everyone, and only to people on the machine itself: the service must listen on a loopback address, and be asked by one.\n';

/** `listensHere` is false where others than this machine may ask. */
export function serveLive(app: FastifyInstance, service: Service, listensHere: boolean): void {
  const page = livePage();
  const guarded =
    (answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply) =>
    (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
      listensHere && isLoopback(hostOf(request))
        ? answer(request, reply)
        : reply.code(403).type('text/plain; charset=utf-8').send(SENTENCE);

  route(
    app,
    ['GET'],
    '/',
    guarded((_request, reply) => sendPage(reply, page)),
  );
  route(
    app,
    ['GET'],
    '/live',
    guarded((_request, reply) =>
      reply
        .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
        .send(liveOf(service)),
    ),
  );
  // Looked at here, a picture counts for nothing: neither in the ledger nor for the faults.
  const draw = painter(service);
  route(
    app,
    ['GET'],
    '/live/runs/:run/:file',
    guarded((request, reply) => {
      const picture = pictureAt(service, request.params);
      return picture === undefined ? notFound(reply) : reply.type('image/png').send(draw(picture));
    }),
  );
}

const hostOf = ({ headers }: FastifyRequest): string =>
  URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '';
