// Lists and removes objects, a thousand in a request.

import { hash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';
import { refused } from './s3-fault.ts';
import { escaped, textOf, textsIn, type Texts } from './s3-xml.ts';

type Page = { readonly keys: readonly string[]; readonly prefixes: readonly string[] };

const NONE: readonly string[] = [];

/** Keys that begin with `prefix`; with a delimiter, what follows it is counted as one prefix. */
export async function* pagesOf(client: S3Client, prefix: string, delimiter?: '/'): AsyncGenerator<Page> {
  let token: string | undefined;
  do {
    const texts = await listed(client, 'ListBucketResult', {
      'list-type': '2',
      prefix,
      ...(delimiter && { delimiter }),
      ...(token && { 'continuation-token': token }),
    });
    token = textOf(texts, 'ListBucketResult/NextContinuationToken');
    yield {
      keys: texts.get('Contents/Key') ?? NONE,
      prefixes: texts.get('CommonPrefixes/Prefix') ?? NONE,
    };
  } while (token !== undefined && token !== '');
}

async function listed(
  client: S3Client,
  expects: 'ListBucketResult' | 'ListMultipartUploadsResult',
  query: Readonly<Record<string, string>>,
): Promise<Texts> {
  const { body } = await client.send({ method: 'GET', key: '', query, expects });
  return textsIn(body.toString());
}

/** Does nothing for objects that are not there. Throws E612 if one of them stays. */
export async function removeAll(client: S3Client, keys: readonly string[]): Promise<void> {
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
  let markers: Readonly<Record<string, string>> | undefined = {};
  while (markers !== undefined) {
    const texts: Texts = await listed(client, 'ListMultipartUploadsResult', {
      uploads: '',
      prefix,
      ...markers,
    });
    const ids = texts.get('Upload/UploadId') ?? NONE;
    const started = texts.get('Upload/Initiated') ?? NONE;
    for (const [at, key] of (texts.get('Upload/Key') ?? NONE).entries())
      yield { key, id: ids[at] ?? '', startedAt: Date.parse(started[at] ?? '') };
    const isMore = textOf(texts, 'ListMultipartUploadsResult/IsTruncated') === 'true';
    markers = isMore
      ? {
          'key-marker': textOf(texts, 'ListMultipartUploadsResult/NextKeyMarker') ?? '',
          'upload-id-marker': textOf(texts, 'ListMultipartUploadsResult/NextUploadIdMarker') ?? '',
        }
      : undefined;
  }
}
