// Serves the output files of runs without a token, like the real service. File faults need the whole picture
// in memory.

import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RunRow } from '../database.ts';
import type { OutputFile } from '../executors/executor.ts';
import type { Fault } from '../faults.ts';
import type { OwnerRequests } from '../owner-requests.ts';
import type { Service } from '../service.ts';
import { notFound, route } from './refusals.ts';

export function serveFiles(app: FastifyInstance, service: Service, requests: OwnerRequests): void {
  let fetched = 0;
  route(app, ['GET', 'HEAD'], '/files/runs/:run/:file', (request, reply) => {
    service.seen('file');
    const fileOfRun = fileAt(service, request.params);
    if (fileOfRun === undefined) return notFound(reply);
    const { row, file } = fileOfRun;
    if (!requests.enterDownload(row.owner, reply)) return reply;
    fetched += 1;
    const shouldInject = (fault: Fault): boolean => service.faults.shouldInject(fault, row, fetched);
    if (shouldInject('lose-file')) return notFound(reply);
    if (shouldInject('away-file')) return reply.code(503).type('text/plain').send('Service Unavailable');
    if (service.faults.shouldInject('private-file', row) && isPast(request.query, service.clock.now()))
      return reply.code(403).type('application/xml').send(EXPIRED);
    if (shouldInject('script-file')) return reply.type('text/html').send(PAGE);
    return Buffer.isBuffer(file.content)
      ? sendPicture(reply, file.content, { shouldInject, fetched })
      : sendFile(reply, file);
  });
}

/** A browser must never show the output of a run as a page of this service. */
export function sendFile(reply: FastifyReply, { type, bytes, content }: OutputFile): FastifyReply {
  const isShown = /^(?:image\/(?!svg)|video\/|audio\/)/.test(type);
  void reply.type(type).headers({
    'content-length': bytes,
    'x-content-type-options': 'nosniff',
    ...(!isShown && { 'content-disposition': 'attachment' }),
  });
  if (reply.request.method === 'HEAD') return reply.send();
  return reply.send(Buffer.isBuffer(content) ? content : content());
}

type FileOfRun = { readonly row: RunRow; readonly file: OutputFile };

/** undefined if the address leads to no file. */
export function fileAt(service: Service, params: unknown): FileOfRun | undefined {
  const { run, file: name } = params as { readonly run: string; readonly file: string };
  const row = service.database.find(run.toLowerCase());
  const file = row?.status === 'success' ? service.executorOf(row.deploymentId).file(row, name) : undefined;
  return row === undefined || file === undefined ? undefined : { row, file };
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

function sendPicture(
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
  // Any bytes may follow the end of a PNG.
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
