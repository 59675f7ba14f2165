// Handles uploads: a form on V2, an upload address on V1. Downloads need no token, like in the real service.

import { MAX_BYTES } from '../../service-client/contract/file-inputs.ts';
import multipart from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { PATHS, MAX_BYTES_V1, uploadQuerySchema } from '../../service-client/contract/paths.ts';
import { missingAt } from '../../service-client/contract/refusal.ts';
import type { AnswerOf, uploadShown, v1UploadUrlShown } from '../../service-client/contract/shown.ts';
import { V1 } from '../auth.ts';
import type { OwnerRequests } from '../owner-requests.ts';
import type { Service } from '../service.ts';
import { notFound, Refused, route } from './refusals.ts';

const TAKEN = /^(image|video|audio|application)\//;
const FILES = '/files/uploads';
/** Only the file is streamed; other parts of the form are held in memory. */
const FORM = { files: 1, fields: 8, fieldSize: 64 * 1024, parts: 16, fileSize: Number.POSITIVE_INFINITY };

/** The V2 form lives in a separate app, because no other route reads forms. */
export async function serveUploads(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(multipart, { limits: FORM });
  route(app, ['POST'], PATHS.upload, async (request, reply) => {
    service.seen('upload');
    const part = await fileOf(request);
    if (part === undefined) throw new Refused(422, [missingAt('body', 'file')]);
    const { filename: name, mimetype: type } = part;
    if (!TAKEN.test(type)) throw new Refused(400, 'Unsupported file type');
    const id = service.newId('upload');
    const upload = { id, owner: request.owner, name, type, uploadedMs: service.clock.now() };
    await fromBody(() => service.uploads.store(upload, part.file, MAX_BYTES));
    const stored: AnswerOf<typeof uploadShown> = {
      message: 'File uploaded successfully',
      file_id: id,
      file_name: name,
      file_url: addressOf(service, id, name),
    };
    return reply.send(stored);
  });
}

/** The file of the form; undefined if there is none. */
async function fileOf(request: FastifyRequest) {
  if (!request.isMultipart()) return undefined;
  const part = await fromBody(() => request.file());
  return part?.fieldname === 'file' ? part : undefined;
}

/** An invalid or interrupted body is the client's fault; a failed write is not. */
async function fromBody<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { statusCode, syscall } = error as FastifyError & NodeJS.ErrnoException;
    if (statusCode !== undefined || syscall !== undefined) throw error;
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
    service.uploads.reserve({ id, owner: request.owner, name, type, uploadedMs: service.clock.now() });
    const url = addressOf(service, id, name);
    const place: AnswerOf<typeof v1UploadUrlShown> = { upload_url: url, file_id: id, download_url: url };
    return reply.send(place);
  });
}

/** Downloads, and V1's uploads. */
export function serveUploaded(app: FastifyInstance, { uploads }: Service, requests: OwnerRequests): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const idIn = ({ params }: FastifyRequest): string => (params as { readonly id: string }).id;
  app.addHook('onRequest', (request, reply, done) => {
    const upload = uploads.find(idIn(request));
    // The address allows one upload without a token; no other body is read.
    if (request.method === 'PUT' && upload?.bytes !== null) return void notFound(reply);
    if (upload === undefined || requests.enterDownload(upload.owner, reply)) done();
  });
  route(app, ['GET', 'HEAD', 'PUT'], `${FILES}/:id/:name`, async (request, reply): Promise<FastifyReply> => {
    const id = idIn(request);
    if (request.method === 'PUT') {
      const body = (request.body as Readable | undefined) ?? Readable.from([]);
      const isFilled = await fromBody(() => uploads.fill(id, body, MAX_BYTES_V1));
      return isFilled ? reply.code(200).send() : notFound(reply);
    }
    const upload = uploads.find(id);
    if (upload === undefined || upload.bytes === null) return notFound(reply);
    const content = request.method === 'HEAD' ? null : await uploads.open(id);
    if (content === undefined) return notFound(reply);
    return reply
      .type(upload.type)
      .headers({
        'content-length': upload.bytes,
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      })
      .send(content ?? undefined);
  });
}

/** Contains the time until which the file is kept, because clients remember addresses. */
const addressOf = ({ origin, clock, keepFilesMs }: Service, id: string, name: string): string =>
  `${origin()}${FILES}/${id}/${encodeURIComponent(name)}?expires=${Math.round(clock.now() + keepFilesMs)}`;
