// Lists and removes objects, a thousand per request.

import { markupText } from '../../errors/outside-text.ts';
import pMap from 'p-map';
import { hash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';
import { textOf, type Texts, textsIn } from './s3-xml.ts';
import { remove } from './objects.ts';
import { refused } from './s3-fault.ts';

type Page = { readonly keys: readonly string[]; readonly prefixes: readonly string[] };

const NONE: readonly string[] = [];
const AT_A_TIME = 16;

/**
 * Keys that begin with `prefix`; with a delimiter, keys after it count as one prefix. Throws E612 for a list of
 * other keys.
 */
export async function* pagesOf(client: S3Client, prefix: string, delimiter?: '/'): AsyncGenerator<Page> {
  const root = 'ListBucketResult';
  const count = pageCount(client);
  let token: string | undefined;
  do {
    const texts = await listed(client, root, {
      'list-type': '2',
      prefix,
      ...(delimiter && { delimiter }),
      ...(token && { 'continuation-token': token }),
    });
    token = textOf(texts, `${root}/NextContinuationToken`);
    const list = { root, texts, prefix };
    const keys = keysAt(client, list, 'Contents/Key');
    const prefixes = keysAt(client, list, 'CommonPrefixes/Prefix');
    if (token) count(token, keys.length + prefixes.length === 0);
    yield { keys, prefixes };
  } while (token !== undefined && token !== '');
}

async function listed(
  client: S3Client,
  expects: 'ListBucketResult' | 'ListMultipartUploadsResult',
  query: Readonly<Record<string, string>>,
): Promise<Texts> {
  const fullQuery = { ...query, 'encoding-type': 'url' };
  const { body } = await client.send({ method: 'GET', key: '', query: fullQuery, expects });
  return textsIn(body.toString());
}

/** Removes the objects; ignores missing ones. Throws E612 if one of them remains. */
export async function removeAll(client: S3Client, keys: readonly string[]): Promise<void> {
  const { url = NONE, xml = NONE } = Object.groupBy(keys, (key) => (/\p{Cc}/u.test(key) ? 'url' : 'xml'));
  await pMap(url, (key) => remove(client, key), { concurrency: AT_A_TIME });
  await removeListed(client, xml);
}

async function removeListed(client: S3Client, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const objects = keys.map((key) => `<Object><Key>${markupText(key)}</Key></Object>`).join('');
  const body = Buffer.from(
    `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`,
  );
  const headers = {
    'content-type': 'application/xml',
    'content-md5': hash('md5', body, 'base64'),
    'x-amz-checksum-sha256': hash('sha256', body, 'base64'),
  };
  const query = { delete: '' };
  const answer = await client.send({
    method: 'POST',
    key: '',
    query,
    headers,
    body,
    expects: 'DeleteResult',
  });
  const texts = textsIn(answer.body.toString());
  const code = textOf(texts, 'Error/Code');
  if (code === undefined) return;
  const message = `${textOf(texts, 'Error/Key') ?? ''}: ${textOf(texts, 'Error/Message') ?? ''}`;
  throw refused(client.place, { status: code === 'AccessDenied' ? 403 : 400, code, message });
}

type Upload = { readonly key: string; readonly id: string; readonly startedAt: number };

/** Multipart uploads that were neither completed nor aborted, of keys that begin with `prefix`. */
export async function* uploadsOf(client: S3Client, prefix: string): AsyncGenerator<Upload> {
  const root = 'ListMultipartUploadsResult';
  const count = pageCount(client);
  let markers: Readonly<Record<string, string>> = {};
  for (;;) {
    const texts: Texts = await listed(client, root, {
      uploads: '',
      prefix,
      ...markers,
    });
    const ids = texts.get('Upload/UploadId') ?? NONE;
    const started = texts.get('Upload/Initiated') ?? NONE;
    const list = { root, texts, prefix };
    const keys = keysAt(client, list, 'Upload/Key');
    for (const [at, key] of keys.entries())
      yield { key, id: ids[at] ?? '', startedAt: Date.parse(started[at] ?? '') };
    if (textOf(texts, `${root}/IsTruncated`) !== 'true') return;
    markers = {
      'key-marker': keysAt(client, { ...list, prefix: '' }, `${root}/NextKeyMarker`)[0] ?? '',
      'upload-id-marker': textOf(texts, `${root}/NextUploadIdMarker`) ?? '',
    };
    count(JSON.stringify(markers), keys.length === 0);
  }
}

type List = {
  /** The outermost element of the answer. */
  readonly root: string;
  readonly texts: Texts;
  readonly prefix: string;
};

/**
 * The keys, or the prefixes of keys, at a place in the response. Listed objects are read, shown and removed, so this
 * throws E612 if one of them does not begin with the prefix: it may belong to another team.
 */
function keysAt(client: S3Client, { root, texts, prefix }: List, at: string): readonly string[] {
  const isEncoded = textOf(texts, `${root}/EncodingType`) === 'url';
  const keys = (texts.get(at) ?? []).map((text) => (isEncoded ? decoded(client, text) : text));
  const stray = keys.find((key) => !key.startsWith(prefix));
  if (stray === undefined) return keys;
  throw client.unexpected(`its list of ${JSON.stringify(prefix)} has another key, ${JSON.stringify(stray)}`);
}

/** Decodes like form data: XML cannot contain most control characters, and a plus is a blank. */
function decoded(client: S3Client, text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw client.unexpected(`its list has a key that cannot be decoded, ${JSON.stringify(text)}`, error);
  }
}

/** Pages of a thousand keys each: more than the files of the largest batch. */
const MAX_PAGES = 20_000;
/** Consecutive empty pages: a bucket with versions has a few where many objects were removed. */
const MAX_EMPTY = 100;
/** Characters of names that are in memory together: about four million files. */
const MAX_LETTERS = 256 << 20;

/** Counts pages that name a next one. Throws E612 for a list without an end. */
export function pageCount(client: S3Client): (next: string, isEmpty: boolean) => void {
  const seen = new Set<string>();
  let empty = 0;
  return (next, isEmpty) => {
    // A token can be large.
    const mark = hash('sha256', next, 'base64');
    if (seen.has(mark)) throw client.unexpected('its list begins again where it began');
    seen.add(mark);
    empty = isEmpty ? empty + 1 : 0;
    if (empty > MAX_EMPTY)
      throw client.unexpected(`its list has more than ${MAX_EMPTY} empty pages in a row`);
    if (seen.size >= MAX_PAGES) throw client.unexpected(`its list has more than ${MAX_PAGES} pages`);
  };
}

/** Counts the names of a list. Throws E612 if they have too many letters. */
export function letterCount(client: S3Client): (name: string) => void {
  let letters = 0;
  return (name) => {
    letters += name.length;
    if (letters > MAX_LETTERS)
      throw client.unexpected(`its list has names of more than ${MAX_LETTERS >> 20} MiB`);
  };
}
