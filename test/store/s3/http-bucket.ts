// A bucket on loopback that knows whole objects and conditional writes, for a test that needs no real server of S3.

import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveForTest } from '../../stage/serve.ts';

type Stored = { readonly body: Buffer; readonly writer: string };

export type HttpBucket = {
  /** By key. */
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
  const key = decodeURIComponent((request.url ?? '').split('/').slice(2).join('/'));
  const there = objects.get(key);
  const refused = (status: number, code: string) =>
    answer.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  if (request.method !== 'PUT') {
    if (there === undefined) return void refused(404, 'NoSuchKey');
    const length = String(there.body.byteLength);
    answer.writeHead(200, { etag: etagOf(there), [WRITER]: there.writer, 'content-length': length });
    return void answer.end(request.method === 'HEAD' ? undefined : there.body);
  }
  const condition = (name: string) => (knows.includes(name) ? request.headers[name] : undefined);
  const match = condition('if-match');
  if (match !== undefined && there === undefined) return void refused(404, 'NoSuchKey');
  const isOther = match !== undefined && there !== undefined && match !== etagOf(there);
  const isTaken = condition('if-none-match') !== undefined && there !== undefined;
  if (isOther || isTaken) return void refused(412, 'PreconditionFailed');
  const stored = { body, writer: String(request.headers[WRITER] ?? '') };
  objects.set(key, stored);
  answer.writeHead(200, { etag: etagOf(stored) }).end();
}
