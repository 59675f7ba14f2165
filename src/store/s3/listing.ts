// Lists and removes objects, a thousand in a request.

import { hash } from 'node:crypto';
import pMap from 'p-map';
import type { S3Client } from './s3-client.ts';
import { PageCount } from './list-bounds.ts';
import { hasControls, keysAt } from './listed-keys.ts';
import { remove } from './objects.ts';
import { refused } from './s3-fault.ts';
import { escaped, textOf, textsIn, type Texts } from './s3-xml.ts';

type Page = { readonly keys: readonly string[]; readonly prefixes: readonly string[] };

const NONE: readonly string[] = [];
const AT_A_TIME = 16;

/** Keys that begin with `prefix`; with a delimiter, what follows it is counted as one prefix. Throws E612 for a list of other keys. */
export async function* pagesOf(client: S3Client, prefix: string, delimiter?: '/'): AsyncGenerator<Page> {
  const root = 'ListBucketResult';
  const pages = new PageCount(client);
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
    if (token) pages.add(token, keys.length + prefixes.length === 0);
    yield { keys, prefixes };
  } while (token !== undefined && token !== '');
}

async function listed(
  client: S3Client,
  expects: 'ListBucketResult' | 'ListMultipartUploadsResult',
  query: Readonly<Record<string, string>>,
): Promise<Texts> {
  const asked = { ...query, 'encoding-type': 'url' };
  const { body } = await client.send({ method: 'GET', key: '', query: asked, expects });
  return textsIn(body.toString());
}

/** Does nothing for objects that are not there. Throws E612 if one of them stays. */
export async function removeAll(client: S3Client, keys: readonly string[]): Promise<void> {
  const { url = NONE, xml = NONE } = Object.groupBy(keys, (key) => (hasControls(key) ? 'url' : 'xml'));
  await pMap(url, (key) => remove(client, key), { concurrency: AT_A_TIME });
  await removeListed(client, xml);
}

async function removeListed(client: S3Client, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const objects = keys.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`).join('');
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
  const pages = new PageCount(client);
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
    pages.add(JSON.stringify(markers), keys.length === 0);
  }
}
