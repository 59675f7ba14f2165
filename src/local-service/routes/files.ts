// The files that runs gave. A picture is drawn when it is fetched; its address needs no token, as the real one's.

import type { FastifyInstance } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import { createAlbum } from '../pictures.ts';
import { pictureIndexOf } from '../records.ts';
import type { Service } from '../service.ts';
import { notFound, route } from './refusals.ts';

const PICTURES_KEPT = 300;
// Runs of a deployment that is no longer offered still have their pictures.
const USUAL_SIZE = 160;

export function serveFiles(app: FastifyInstance, service: Service): void {
  const draw = createAlbum(PICTURES_KEPT);
  let fetched = 0;
  route(app, ['GET', 'HEAD'], '/files/runs/:run/:file', (request, reply) => {
    service.seen('file');
    const { run, file } = request.params as { readonly run: string; readonly file: string };
    const index = pictureIndexOf(file);
    const row = service.database.find(run.toLowerCase());
    if (row === undefined || index === undefined) return notFound(reply);
    if (row.status !== 'success' || index > row.outputs) return notFound(reply);
    fetched += 1;
    if (service.faults.strikes('lose-file', row.number, fetched)) return notFound(reply);
    const inputs = parseExactly(row.inputs) as Record<string, unknown>;
    const size = service.deployments.get(row.deploymentId)?.pictureSize ?? USUAL_SIZE;
    return reply.type('image/png').send(draw({ inputs, index, size }));
  });
}
