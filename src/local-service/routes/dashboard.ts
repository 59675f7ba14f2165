// The page for the person who started the service. It shows the runs of every owner, so it is opened by an address with a
// secret, which the service prints. It is shown on this machine only: not where the service listens beyond it, and not to a
// page of another site whose name was bent to lead here.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageLogin } from '../../host/page-login.ts';
import { dashboardOf } from '../dashboard.ts';
import { dashboardPage } from '../pages/dashboard.ts';
import { sendPage } from '../pages/page.ts';
import type { Service } from '../service.ts';
import { isLoopback } from '../webhook-target.ts';
import { painter, pictureAt } from './files.ts';
import { notFound, route } from './refusals.ts';

const ELSEWHERE =
  'This page shows the runs of everyone, and only to people on the machine itself: the service must listen on a loopback address, and be asked by one.\n';
const CLOSED =
  'This page shows the runs of everyone, and only to whoever started the service: open the address of the live page that it printed.\n';

/** `listensHere` is false where others than this machine may ask. */
export function serveDashboard(
  app: FastifyInstance,
  service: Service,
  { listensHere, door }: { readonly listensHere: boolean; readonly door: PageLogin },
): void {
  const page = dashboardPage();
  const guarded =
    (answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply) =>
    (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      if (!listensHere || !isLoopback(hostOf(request))) return refuse(reply, ELSEWHERE);
      const opened = door.opens(request.raw);
      if (opened !== undefined)
        return reply
          .code(303)
          .headers({ ...opened, 'cache-control': 'no-store' })
          .send();
      return door.isOpen(request.raw) ? answer(request, reply) : refuse(reply, CLOSED);
    };

  route(
    app,
    ['GET'],
    '/open/:secret',
    guarded((_request, reply) => refuse(reply, CLOSED)),
  );
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
        .send(dashboardOf(service)),
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

const refuse = (reply: FastifyReply, sentence: string): FastifyReply =>
  reply.code(403).type('text/plain; charset=utf-8').send(sentence);

const hostOf = ({ headers }: FastifyRequest): string =>
  URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '';
