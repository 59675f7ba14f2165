// A bucket on loopback that knows whole objects, conditional writes, lists and removals, for a test that needs no real server of S3.

import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveForTest } from '../../stage/serve.ts';

type Stored = { readonly body: Buffer; readonly writer: string };

export type HttpBucket = {
  /** Objects by key. */
  readonly objects: Map<string, Stored>;
  /** Authorization and session token of each request. */
  readonly signedBy: string[];
  readonly tokens: (string | undefined)[];
  /** The variables with which a program reaches it. */
  readonly environment: Readonly<Record<string, string>>;
};

/** `knows`: the conditions that it does not ignore. */
export async function openHttpBucket(
  knows: readonly string[] = ['if-match', 'if-none-match'],
): Promise<HttpBucket> {
  const objects = new Map<string, Stored>();
  const signedBy: string[] = [];
  const tokens: (string | undefined)[] = [];
  const { url } = await serveForTest((request, answer) => {
    signedBy.push(request.headers.authorization ?? '');
    tokens.push(request.headers['x-amz-security-token']?.toString());
    void answered(objects, request, answer, knows);
  });
  return {
    objects,
    signedBy,
    tokens,
    environment: {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests',
      AWS_ENDPOINT_URL_S3: url,
    },
  };
}

const WRITER = 'x-amz-meta-writer';
const etagOf = ({ body }: Stored): string => `"${hash('md5', body, 'hex')}"`;

async function answered(
  objects: Map<string, Stored>,
  request: IncomingMessage,
  answer: ServerResponse,
  knows: readonly string[],
): Promise<void> {
  const body = Buffer.concat(await request.toArray());
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket');
  const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
  const object = objects.get(key);
  if (searchParams.has('list-type')) return void answer.end(listOf(objects, searchParams));
  if (searchParams.has('uploads') && key === '')
    return void answer.end('<ListMultipartUploadsResult></ListMultipartUploadsResult>');
  if (searchParams.has('delete') || request.method === 'DELETE') {
    for (const [, name = ''] of `<Key>${key}</Key>${body.toString()}`.matchAll(/<Key>([^<]*)</g))
      objects.delete(name);
    return void answer
      .writeHead(request.method === 'DELETE' ? 204 : 200)
      .end('<DeleteResult></DeleteResult>');
  }
  const refused = (status: number, code: string) =>
    answer.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  if (request.method !== 'PUT') {
    if (object === undefined) return void refused(404, 'NoSuchKey');
    const length = String(object.body.byteLength);
    answer.writeHead(200, { etag: etagOf(object), [WRITER]: object.writer, 'content-length': length });
    return void answer.end(request.method === 'HEAD' ? undefined : object.body);
  }
  const condition = (name: string) => (knows.includes(name) ? request.headers[name] : undefined);
  const match = condition('if-match');
  if (match !== undefined && object === undefined) return void refused(404, 'NoSuchKey');
  const isOther = match !== undefined && object !== undefined && match !== etagOf(object);
  const isTaken = condition('if-none-match') !== undefined && object !== undefined;
  if (isOther || isTaken) return void refused(412, 'PreconditionFailed');
  const stored = { body, writer: String(request.headers[WRITER] ?? '') };
  objects.set(key, stored);
  answer.writeHead(200, { etag: etagOf(stored) }).end();
}

/** The keys that begin with the prefix, or what follows it up to a slash. */
function listOf(objects: HttpBucket['objects'], query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const names = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
  const isDeep = (key: string): boolean => query.has('delimiter') && key.slice(prefix.length).includes('/');
  const folders = names.filter(isDeep).map((key) => {
    const [first = ''] = key.slice(prefix.length).split('/');
    return `${prefix}${first}/`;
  });
  const contents = names.filter((key) => !isDeep(key)).map((key) => `<Contents><Key>${key}</Key></Contents>`);
  const prefixes = [...new Set(folders)].map(
    (folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`,
  );
  return `<ListBucketResult>${contents.join('')}${prefixes.join('')}</ListBucketResult>`;
}
