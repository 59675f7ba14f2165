// Serves the dashboard to the user who started the service. It shows the runs of every owner, so its address contains a secret,
// which the service prints. It is available only on this machine: not if the service listens on other interfaces, and not to
// another site's page by DNS rebinding.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageLogin } from '../../host/page-login.ts';
import { dashboardOf } from '../dashboard.ts';
import { dashboardPage } from '../pages/dashboard.ts';
import { sendPage } from '../pages/page.ts';
import type { Service } from '../service.ts';
import { isLoopback } from '../webhooks/webhook-target.ts';
import { painter, pictureAt } from './files.ts';
import { notFound, route } from './refusals.ts';

const ELSEWHERE =
  'This page shows the runs of all owners, so it is available only on this machine: the service must listen on a loopback address, and the request must use one.\n';
const CLOSED =
  'This page shows the runs of all owners, so it needs a secret: open the dashboard address that the service printed at its start.\n';

/** `listensHere` is false if other machines can connect. */
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
  // Pictures on the dashboard count as no request and trigger no faults.
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
