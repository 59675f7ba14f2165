// Handles uploads: a form on V2, an upload address on V1. Like in the real service, downloads need no token.

import multipart from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PATHS, UPLOAD_BYTES_MAX_V1, uploadQuerySchema } from '../../run-service/contract/paths.ts';
import { missingAt } from '../../run-service/contract/refusal.ts';
import type { Shown, uploadShown, v1UploadUrlShown } from '../../run-service/contract/shown.ts';
import { V1 } from '../auth.ts';
import type { Service } from '../service.ts';
import { notFound, Refused, route } from './refusals.ts';

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
  const uploadAt = ({ params }: FastifyRequest) =>
    service.database.uploadOf((params as { readonly id: string }).id);
  // The address allows one upload without a token; no other body is read.
  app.addHook('onRequest', (request, reply, done) =>
    request.method === 'PUT' && uploadAt(request)?.bytes !== null ? void notFound(reply) : done(),
  );
  route(app, ['GET', 'HEAD', 'PUT'], `${FILES}/:id/:name`, (request, reply): FastifyReply => {
    const upload = uploadAt(request);
    if (request.method === 'PUT') {
      // Another one may have come meanwhile.
      if (upload === undefined || upload.bytes !== null) return notFound(reply);
      service.database.upload({ ...upload, bytes: (request.body as Buffer | undefined) ?? Buffer.alloc(0) });
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
