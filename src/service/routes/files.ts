// Serves the output files of runs, and takes uploads: a form on V2, an upload address on V1. Like in the real service, downloads need no
// token. Faults of files need a whole picture in memory.

import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyError, FastifyRequest } from 'fastify';
import type { RunRow } from '../database.ts';
import type { OutputFile } from '../executors/executor.ts';
import type { Fault } from '../faults.ts';
import type { Service } from '../service.ts';
import { notFound, route, Refused } from './refusals.ts';
import multipart from '@fastify/multipart';
import { PATHS, UPLOAD_BYTES_MAX_V1, uploadQuerySchema } from '../../run-service/contract/paths.ts';
import { missingAt } from '../../run-service/contract/refusal.ts';
import type { Shown, uploadShown, v1UploadUrlShown } from '../../run-service/contract/shown.ts';
import { V1 } from '../auth.ts';

export function serveFiles(app: FastifyInstance, service: Service): void {
  let fetched = 0;
  route(app, ['GET', 'HEAD'], '/files/runs/:run/:file', (request, reply) => {
    service.seen('file');
    const found = fileAt(service, request.params);
    if (found === undefined) return notFound(reply);
    const { row, file } = found;
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
  return reply
    .type(type)
    .headers({
      'content-length': bytes,
      'x-content-type-options': 'nosniff',
      ...(!isShown && { 'content-disposition': 'attachment' }),
    })
    .send(content);
}

type FileOfRun = { readonly row: RunRow; readonly file: OutputFile };

/** The file of an address; undefined if there is none. */
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

const BYTES_MAX = 250 * 1024 * 1024;
const TAKEN = /^(image|video|audio|application)\//;
const FILES = '/files/uploads';

/** The form of V2, in a separate app, because no other route reads forms. */
export async function serveUploads(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(multipart, { limits: { fileSize: BYTES_MAX, files: 1 } });
  route(app, ['POST'], PATHS.upload, async (request, reply) => {
    service.seen('upload');
    const file = await fileOf(request);
    if (file === undefined) throw new Refused(422, [missingAt('body', 'file')]);
    const { name, type, bytes } = file;
    if (!TAKEN.test(type)) throw new Refused(400, 'Unsupported file type');
    const id = service.newId('upload');
    service.database.upload({ id, owner: request.owner, name, type, bytes, uploadedMs: service.clock.now() });
    const stored: Shown<typeof uploadShown> = {
      message: 'File uploaded successfully',
      file_id: id,
      file_name: name,
      file_url: addressOf(service, id, name),
    };
    return reply.send(stored);
  });
}

type File = { readonly name: string; readonly type: string; readonly bytes: Buffer };

/** The file of the form; undefined if there is none. Throws the framework's error if the file is too large. */
async function fileOf(request: FastifyRequest): Promise<File | undefined> {
  if (!request.isMultipart()) return undefined;
  try {
    const part = await request.file();
    if (part?.fieldname !== 'file') return undefined;
    return { name: part.filename, type: part.mimetype, bytes: await part.toBuffer() };
  } catch (error) {
    // For an invalid form the parser's error has no status.
    if ((error as FastifyError).statusCode !== undefined) throw error;
    throw new Refused(400, 'There was an error parsing the body');
  }
}

/** V1's upload address. */
export function serveUploadUrls(app: FastifyInstance, service: Service): void {
  route(app, ['GET'], `${V1}/upload-url`, (request, reply) => {
    const read = uploadQuerySchema.safeParse(request.query);
    if (!read.success) return reply.code(400).send({ error: 'Invalid type or file_size' });
    const id = service.newId('upload');
    const { type } = read.data;
    const name = `${id}.${type.split('/')[1] ?? 'bin'}`;
    service.database.upload({
      id,
      owner: request.owner,
      name,
      type,
      bytes: null,
      uploadedMs: service.clock.now(),
    });
    const url = addressOf(service, id, name);
    const place: Shown<typeof v1UploadUrlShown> = { upload_url: url, file_id: id, download_url: url };
    return reply.send(place);
  });
}

/** Downloads, and V1's uploads. */
export function serveUploaded(app: FastifyInstance, service: Service): void {
  app.removeAllContentTypeParsers();
  const asBytes = { parseAs: 'buffer', bodyLimit: UPLOAD_BYTES_MAX_V1 } as const;
  app.addContentTypeParser('*', asBytes, (_request, body, done) => done(null, body));
  route(app, ['GET', 'HEAD', 'PUT'], `${FILES}/:id/:name`, (request, reply): FastifyReply => {
    const { id } = request.params as { readonly id: string };
    const upload = service.database.uploadOf(id);
    if (request.method === 'PUT') {
      // The address allows one upload without a token.
      if (upload === undefined || upload.bytes !== null) return notFound(reply);
      service.database.upload({ ...upload, bytes: request.body as Buffer });
      return reply.code(200).send();
    }
    if (!upload?.bytes) return notFound(reply);
    return reply
      .type(upload.type)
      .headers({ 'content-disposition': 'attachment', 'x-content-type-options': 'nosniff' })
      .send(Buffer.from(upload.bytes));
  });
}

/** It says until when the file is kept, because clients remember addresses. */
const addressOf = ({ origin, clock, keepFilesMs }: Service, id: string, name: string): string =>
  `${origin()}${FILES}/${id}/${encodeURIComponent(name)}?expires=${Math.round(clock.now() + keepFilesMs)}`;
