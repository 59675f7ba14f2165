// Reads and writes whole objects. Each write carries the mark of its writer, so a write whose response was lost is
// recognized.

import { Readable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import type { S3Answer, S3Client, S3Request } from './s3-client.ts';
import { s3Address, type S3Place } from '../../host/s3-address.ts';
import { copySource } from '../../host/settings/s3-settings.ts';
import { mediaTypeOf } from '../../host/formats/media-types.ts';
import { type NextContent, replacedMeanwhile } from '../store.ts';
import { withoutConditions } from './s3-fault.ts';

const WRITER = 'x-amz-meta-writer';
const PROCESS = randomBytes(6).toString('hex');
let writes = 0;

export type Object = {
  readonly bytes: number;
  readonly modifiedAt: number;
  readonly etag: string;
  /** Absent if the server keeps no metadata. */
  readonly writer: string | undefined;
};

export const newWriter = (): string => `${PROCESS}-${(writes += 1)}`;

/** The headers of an object: its writer, and its media type for browsers. */
export const headersOf = (
  { place }: S3Client,
  key: string,
  writer: string,
): Readonly<Record<string, string>> => ({
  [WRITER]: writer,
  'content-type': mediaTypeOf(place.key === '' ? key : key.slice(place.key.length + 1)),
});

const headerOf = ({ headers }: Pick<S3Answer, 'headers'>, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
};
export const etagOf = (answer: Pick<S3Answer, 'headers'>): string => headerOf(answer, 'etag') ?? '';

/** undefined if there is no such object. */
export async function read(
  client: S3Client,
  key: string,
  size?: S3Request['size'],
): Promise<Buffer | undefined> {
  const { status, body } = await client.send({ method: 'GET', key, accepts: [404], ...(size && { size }) });
  return status === 404 ? undefined : body;
}

/** undefined if there is no such object. */
export async function look(client: S3Client, key: string): Promise<Object | undefined> {
  const answer = await client.send({ method: 'HEAD', key, accepts: [404] });
  if (answer.status === 404) return undefined;
  return {
    bytes: Number(headerOf(answer, 'content-length') ?? 0),
    modifiedAt: Date.parse(headerOf(answer, 'last-modified') ?? ''),
    etag: etagOf(answer),
    writer: headerOf(answer, WRITER),
  };
}

const absent = (place: S3Place): NodeJS.ErrnoException =>
  Object.assign(new Error(`ENOENT: no such file, ${s3Address(place)}`), { code: 'ENOENT' });

/** Replaces the object. A repetition writes the same content once more. Returns its etag. */
export async function put(client: S3Client, key: string, body: Uint8Array): Promise<string> {
  return etagOf(
    await client.send({ method: 'PUT', key, headers: headersOf(client, key, newWriter()), body }),
  );
}

/** Copies an object within S3. False if it is too large for that; errors with ENOENT if there is none. */
export async function copy(client: S3Client, source: S3Place, key: string): Promise<boolean> {
  const headers = { 'x-amz-copy-source': copySource(source) };
  const expects = 'CopyObjectResult';
  const { status } = await client.send({ method: 'PUT', key, headers, accepts: [400, 404], expects });
  if (status === 404) throw absent(source);
  return status !== 400;
}

/** Does nothing if there is no such object. */
export async function remove(client: S3Client, key: string): Promise<void> {
  await client.send({ method: 'DELETE', key, accepts: [404] });
}

/** Creates the object unless it exists; true even if only the response to an earlier try was lost. */
export async function create(client: S3Client, key: string, body: Uint8Array): Promise<boolean> {
  await assureConditions(client);
  return createOnce(client, key, body);
}

const createOnce = (client: S3Client, key: string, body: Uint8Array): Promise<boolean> =>
  replaceOnce(client, key, body, undefined);

/** The condition that the object is still the one that was read; undefined: there was none. */
export const unless = (etag: string | undefined): Readonly<Record<string, string>> =>
  etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };

/** Our own writers never collide this often; other writers are not ours. */
const UPDATE_TRIES = 10;

/** Implements {@link Store.update}. The condition names the object that was read, so a try that arrives late is refused. */
export async function update(
  client: S3Client,
  key: string,
  next: NextContent,
  size?: S3Request['size'],
): Promise<void> {
  await assureConditions(client);
  for (let tries = 0; tries < UPDATE_TRIES; tries += 1) {
    const stored = await client.send({ method: 'GET', key, accepts: [404], ...(size && { size }) });
    const isThere = stored.status !== 404;
    const content = await next(isThere ? stored.body.toString() : undefined);
    if (content === undefined) return;
    const etag = isThere ? etagOf(stored) : undefined;
    if (await replaceOnce(client, key, Buffer.from(content), etag)) return;
  }
  throw replacedMeanwhile(s3Address({ ...client.place, key }));
}

/** Replaces the object with this etag, or creates it; false if another writer was faster. */
export async function replaceOnce(
  client: S3Client,
  key: string,
  body: Uint8Array,
  etag: string | undefined,
): Promise<boolean> {
  const writer = newWriter();
  const headers = { ...headersOf(client, key, writer), ...unless(etag) };
  const accepts = etag === undefined ? [412] : [404, 412];
  const { status, mayBeDone } = await client.send({ method: 'PUT', key, headers, body, accepts });
  if (status !== 412 && status !== 404) return true;
  if (!mayBeDone) return false;
  const stored = await look(client, key);
  // Without metadata, only the content can tell.
  if (stored?.writer === undefined) return (await read(client, key))?.equals(body) ?? false;
  return stored.writer === writer;
}

/** Buckets whose server was found to honour conditions. */
const assured = new Map<string, Promise<void>>();

/**
 * Throws E612 for a server that ignores conditions: there, two commands could each believe that they created the
 * batch, and a late request could put an old file back.
 */
function assureConditions(client: S3Client): Promise<void> {
  if (client.isAmazon) return Promise.resolve();
  const { server } = client;
  const before = assured.get(server);
  if (before !== undefined) return before;
  const now = refuseOthers(client);
  assured.set(server, now);
  now.catch(() => assured.delete(server));
  return now;
}

const PROBE = '.conditional-writes';

async function refuseOthers(client: S3Client): Promise<void> {
  const { key: folder } = client.place;
  const key = folder === '' ? PROBE : `${folder}/${PROBE}`;
  const body = Buffer.from('two writers, one object\n');
  // An object of an earlier process proves it with one request.
  const isFirst = await createOnce(client, key, body);
  if (isFirst && (await createOnce(client, key, body)))
    throw withoutConditions(client.place, 'If-None-Match');
  const strangeEtag = `"${'0'.repeat(32)}"`;
  if (await replaceOnce(client, key, body, strangeEtag)) throw withoutConditions(client.place, 'If-Match');
}

/**
 * The content as it arrives. A transfer that breaks continues where it broke, up to the size that the first response
 * named: otherwise a broken server would be asked without end. Errors with ENOENT if there is no such object.
 */
export const stream = (client: S3Client, key: string): Readable =>
  Readable.from(chunksOf(client, key), { objectMode: false, highWaterMark: 1 << 18 });

async function* chunksOf(client: S3Client, key: string): AsyncGenerator<Uint8Array> {
  let at = 0;
  let etag: string | undefined;
  let size: number | undefined;
  for (let breaks = 0; ;) {
    const from = at;
    const headers = etag === undefined ? {} : { range: `bytes=${at}-`, 'if-match': etag };
    const answer = await client.stream({ method: 'GET', key, headers, accepts: [404, 416] });
    if (answer.status === 404) throw absent({ ...client.place, key });
    // The transfer broke right after the last byte.
    if (answer.status === 416) return;
    // A server without ranges sends the beginning again.
    let skip = answer.status === 206 ? 0 : at;
    etag ??= etagOf(answer);
    size ??= sizeIn(answer);
    try {
      for await (const chunk of answer.chunks) {
        const unread = chunk.subarray(Math.min(skip, chunk.byteLength));
        skip -= chunk.byteLength - unread.byteLength;
        const fresh = unread.subarray(0, size === undefined ? unread.byteLength : size - at);
        at += fresh.byteLength;
        if (fresh.byteLength > 0) yield fresh;
        if (fresh.byteLength < unread.byteLength) break;
      }
      if (size === undefined || at === size) return;
      throw new Error(`it sent ${at} of ${size} bytes`);
    } catch (error) {
      if (at === size) return;
      const hasProgress = size !== undefined && at - from >= PROGRESS_BYTES;
      breaks = hasProgress ? 1 : breaks + 1;
      if (breaks > MAX_BREAKS) throw client.unreachable(error);
    }
  }
}

/**
 * Breaks without progress between them: a server that sends a few bytes before each break would otherwise be asked
 * for ever.
 */
const MAX_BREAKS = 3;
const PROGRESS_BYTES = 64 << 10;

/** The size of the whole object; undefined if the response does not name it. */
function sizeIn(answer: Pick<S3Answer, 'status' | 'headers'>): number | undefined {
  const text =
    answer.status === 206
      ? headerOf(answer, 'content-range')?.split('/')[1]
      : headerOf(answer, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
