// Serves the output files of runs. A picture is drawn when it is downloaded; like in the real service, no token is needed.

import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import type { RunRow } from '../runs/run-row.ts';
import { createAlbum } from '../pictures/pictures.ts';
import { pictureIndexOf } from '../runs/run-record.ts';
import type { Fault } from '../faults.ts';
import type { Service } from '../service.ts';
import { notFound, route } from './refusals.ts';

const PICTURES_KEPT = 150;
// The picture size for runs of a removed deployment.
const USUAL_SIZE = 160;

export function serveFiles(app: FastifyInstance, service: Service): void {
  const draw = painter(service);
  let fetched = 0;
  route(app, ['GET', 'HEAD'], '/files/runs/:run/:file', (request, reply) => {
    service.seen('file');
    const picture = pictureAt(service, request.params);
    if (picture === undefined) return notFound(reply);
    const { row } = picture;
    fetched += 1;
    const shouldInject = (fault: Fault): boolean => service.faults.shouldInject(fault, row, fetched);
    if (shouldInject('lose-file')) return notFound(reply);
    if (shouldInject('away-file')) return reply.code(503).type('text/plain').send('Service Unavailable');
    if (service.faults.shouldInject('private-file', row) && isPast(request.query, service.clock.now()))
      return reply.code(403).type('application/xml').send(EXPIRED);
    if (shouldInject('script-file')) return reply.type('text/html').send(PAGE);
    return sendFile(reply, draw(picture), { shouldInject, fetched });
  });
}

type Picture = { readonly row: RunRow; readonly index: number };

/** The picture of an address; undefined if there is none. */
export function pictureAt(service: Service, params: unknown): Picture | undefined {
  const { run, file } = params as { readonly run: string; readonly file: string };
  const index = pictureIndexOf(file);
  const row = service.database.find(run.toLowerCase());
  if (row === undefined || index === undefined) return undefined;
  return row.status === 'success' && index <= row.outputs ? { row, index } : undefined;
}

/** Draws the pictures of runs, and caches the last ones. */
export function painter({ deployments }: Service): (picture: Picture) => Buffer {
  const draw = createAlbum(PICTURES_KEPT);
  return ({ row, index }) => {
    const inputs = parseExactly(row.inputs) as Record<string, unknown>;
    const size = deployments.get(row.deploymentId)?.pictureSize ?? USUAL_SIZE;
    return draw({ inputs, index, size });
  };
}

const EXPIRED = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
const PAGE = '<!doctype html><script>document.title = "a script ran"</script>';

const isPast = (query: unknown, nowMs: number): boolean =>
  !(Number((query as Readonly<Record<string, unknown>>)['expires']) >= nowMs);

const SLOW = { bytes: 20, everyMs: 100 };

async function trickle(answer: FastifyReply['raw'], file: Buffer): Promise<void> {
  answer.writeHead(200, { 'content-type': 'image/png', 'content-length': file.length });
  for (let at = 0; at < file.length && !answer.destroyed; at += SLOW.bytes) {
    answer.write(file.subarray(at, at + SLOW.bytes));
    await wait(SLOW.everyMs, undefined, { ref: false });
  }
  answer.end();
}

function sendFile(
  reply: FastifyReply,
  picture: Buffer,
  { shouldInject, fetched }: { readonly shouldInject: (fault: Fault) => boolean; readonly fetched: number },
): FastifyReply {
  if (shouldInject('slow-file')) {
    reply.hijack();
    void trickle(reply.raw, picture);
    return reply;
  }
  void reply.type('image/png');
  // A PNG may have any bytes after its end.
  if (shouldInject('changed-file'))
    return reply.send(Buffer.concat([picture, Buffer.from(`try ${fetched}`)]));
  const cut = shouldInject('cut-file');
  if (!cut && !shouldInject('short-file')) return reply.send(picture);
  reply.hijack();
  const half = picture.subarray(0, picture.length / 2);
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'image/png', 'content-length': picture.length });
  raw.write(half, () => (cut ? raw.socket?.resetAndDestroy() : raw.socket?.end()));
  return reply;
}
