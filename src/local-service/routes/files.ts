// The files that runs gave. A picture is drawn when it is fetched; its address needs no token, as the real one's.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import { createAlbum } from '../pictures.ts';
import { pictureIndexOf } from '../records.ts';
import type { Fault } from '../faults.ts';
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
    const strikes = (fault: Fault): boolean => service.faults.strikes(fault, row, fetched);
    if (strikes('lose-file')) return notFound(reply);
    if (service.faults.strikes('private-file', row) && isPast(request.query, service.clock.now()))
      return reply.code(403).type('application/xml').send(EXPIRED);
    if (strikes('script-file')) return reply.type('text/html').send(PAGE);
    const inputs = parseExactly(row.inputs) as Record<string, unknown>;
    const size = service.deployments.get(row.deploymentId)?.pictureSize ?? USUAL_SIZE;
    return sendFile(reply, draw({ inputs, index, size }), { strikes, fetched });
  });
}

const EXPIRED = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
const PAGE = '<!doctype html><script>document.title = "a script ran"</script>';

const isPast = (query: unknown, nowMs: number): boolean =>
  !(Number((query as Readonly<Record<string, unknown>>)['expires']) >= nowMs);

function sendFile(
  reply: FastifyReply,
  picture: Buffer,
  { strikes, fetched }: { readonly strikes: (fault: Fault) => boolean; readonly fetched: number },
): FastifyReply {
  void reply.type('image/png');
  // A PNG may have anything after its end.
  if (strikes('changed-file')) return reply.send(Buffer.concat([picture, Buffer.from(`try ${fetched}`)]));
  const cut = strikes('cut-file');
  if (!cut && !strikes('short-file')) return reply.send(picture);
  reply.hijack();
  const half = picture.subarray(0, picture.length / 2);
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'image/png', 'content-length': picture.length });
  raw.write(half, () => (cut ? raw.socket?.resetAndDestroy() : raw.socket?.end()));
  return reply;
}
