// The files that runs gave. A picture is drawn when it is fetched; its address needs no token, as the real one's.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import type { RunRow } from '../database.ts';
import { createAlbum } from '../pictures.ts';
import { pictureIndexOf } from '../records.ts';
import type { Service } from '../service.ts';
import { notFound, route } from './refusals.ts';

const PICTURES_KEPT = 300;
// Runs of a deployment that is no longer offered still have their pictures.
const USUAL_SIZE = 160;

type Answer = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function serveFiles(app: FastifyInstance, service: Service): void {
  let fetched = 0;
  const lost = (row: RunRow): boolean => service.faults.strikes('lose-file', row.number, (fetched += 1));
  servePictures(
    app,
    service,
    '/files',
    (answer) => (request, reply) => {
      service.seen('file');
      return answer(request, reply);
    },
    lost,
  );
}

/** Serves the pictures of runs below `root`; `around` sees each request first, `lost` says which one fails. */
export function servePictures(
  app: FastifyInstance,
  service: Service,
  root: string,
  around: (answer: Answer) => Answer,
  lost: (row: RunRow) => boolean = () => false,
): void {
  const draw = createAlbum(PICTURES_KEPT);
  const answer: Answer = (request, reply) => {
    const { run, file } = request.params as { readonly run: string; readonly file: string };
    const index = pictureIndexOf(file);
    const row = service.database.find(run.toLowerCase());
    if (row === undefined || index === undefined) return notFound(reply);
    if (row.status !== 'success' || index > row.outputs) return notFound(reply);
    if (lost(row)) return notFound(reply);
    const inputs = parseExactly(row.inputs) as Record<string, unknown>;
    const size = service.deployments.get(row.deploymentId)?.pictureSize ?? USUAL_SIZE;
    return reply.type('image/png').send(draw({ inputs, index, size }));
  };
  route(app, ['GET', 'HEAD'], `${root}/runs/:run/:file`, around(answer));
}
