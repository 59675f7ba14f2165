// The answers of hosted vendors: what a request has certainly not done, has done, or may have done.

import { Readable } from 'node:stream';
import { z } from 'zod';
import { isRetryable } from '../../../host/http/retryable-status.ts';
import { errorMessage } from '../../../errors/error.ts';
import { extensionFor, mediaTypeOf } from '../../../host/formats/media-types.ts';
import { Unreachable, type Submitted } from '../backend.ts';
import { storedFile } from '../stored-file.ts';
import {
  BLOCKED_MS,
  jsonIn,
  OF_A_PERSON,
  OF_EVERYTHING,
  retryAfterMs,
  shown,
  type Http,
  type ServerAnswer,
} from '../http.ts';

/**
 * `waitMs`: how long the answer to a purchase is awaited. At a vendor that shows no list, `queueMs` is how long a
 * run may wait there to begin, and `slackMs` how long after its last moment the run counts as possibly executing.
 */
export const SUBMIT = { waitMs: 120_000, queueMs: 600_000, slackMs: 60_000 };

/** The connection was never made, so no byte of the request arrived. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Sends a request that may buy a run. Returns the answer, or a text with the reason if the request may have
 * arrived. Throws Unreachable if it certainly has not.
 */
export async function posted(
  http: Http,
  path: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ServerAnswer | string> {
  try {
    return await http.ask(path, body, { waitMs: SUBMIT.waitMs, more });
  } catch (error) {
    if (error instanceof Unreachable && NEVER_CONNECTED.has(codeOf(error.cause))) throw error;
    return errorMessage(error);
  }
}

function codeOf(error: unknown): unknown {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  return code ?? (cause === undefined ? undefined : codeOf(cause));
}

/** The run is at fault, and the vendor has not taken it. */
const OF_THE_RUN: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Translates the answer to a request that buys a run. `refIn` reads the vendor's id of it. */
export function submittedOf(
  answer: ServerAnswer | string,
  refIn: (body: unknown) => string | undefined,
): Submitted {
  if (typeof answer === 'string') return { kind: 'unclear', reason: answer };
  const { status, headers } = answer;
  const reason = vendorReason(answer);
  if (status >= 200 && status < 300) {
    const ref = refIn(jsonIn(answer.text));
    return ref === undefined ? { kind: 'unclear', reason } : { kind: 'accepted', ref };
  }
  if (OF_THE_RUN.has(status)) return { kind: 'refused', reason };
  if (status === 429) return { kind: 'busy', why: 'full', afterMs: retryAfterMs(headers), reason };
  if (OF_EVERYTHING.has(status)) return { kind: 'busy', why: 'blocked', afterMs: BLOCKED_MS, reason };
  return { kind: 'unclear', reason };
}

/** Whether this answer to the read of a result says nothing about the run, so that another read may succeed. */
export const isReadLater = (status: number): boolean =>
  (status < 400 && status !== 200) || status >= 500 || isRetryable(status) || OF_A_PERSON.has(status);

const word = z.string().optional().catch(undefined);
const faultSchema = z.looseObject({
  msg: word,
  message: word,
  description: word,
  /** The path of the wrong input, as FastAPI writes it. */
  loc: z
    .array(z.union([z.string(), z.number()]))
    .optional()
    .catch(undefined),
  field: word,
  param: word,
});
const faultsSchema = z.array(faultSchema).min(1).optional().catch(undefined);
const problemSchema = faultSchema.extend({
  detail: z.union([z.string(), faultsSchema]).optional().catch(undefined),
  errors: faultsSchema,
  invalid_fields: faultsSchema,
  error: z.union([z.string(), faultSchema]).optional().catch(undefined),
  title: word,
});

/** The words of one fault, after the name of the input that has it. */
function faultText({
  description,
  message = description,
  msg = message,
  loc = [],
  param,
  field = param ?? loc.filter((part) => part !== 'body').join('.'),
}: z.output<typeof faultSchema>): string | undefined {
  return msg === undefined || field === '' ? msg : `${field}: ${msg}`;
}

/** The words of a refusal, in any of the shapes that vendors use, with the names of wrong inputs. */
export function vendorReason({ status, text }: ServerAnswer): string {
  const { data } = problemSchema.safeParse(jsonIn(text));
  if (data === undefined) return `answered ${status}: ${shown(text)}`;
  const { detail, error, title, invalid_fields: invalid, errors = invalid } = data;
  const faults = Array.isArray(detail) ? detail : (errors ?? []);
  const words =
    faults.flatMap((fault) => faultText(fault) ?? []).join('; ') ||
    (typeof detail === 'string' ? detail : undefined) ||
    (typeof error === 'object' ? faultText(error) : error) ||
    faultText(data) ||
    title ||
    text;
  return `answered ${status}: ${shown(words)}`;
}

/** Opens a result by its address, which may hold the result itself. */
export const resultAt = async (address: string, vendor: string): Promise<Readable> =>
  address.startsWith('data:') ? Readable.from([dataIn(address)]) : storedFile(address, vendor);

/** An input file as a data URI, for vendors that store no inputs. */
export async function dataUri({
  name,
  content,
}: {
  readonly name: string;
  readonly content: Blob;
}): Promise<string> {
  const bytes = Buffer.from(await content.arrayBuffer());
  return `data:${mediaTypeOf(name)};base64,${bytes.toString('base64')}`;
}

/** The bytes of `data:image/png;base64,…`. */
function dataIn(address: string): Buffer {
  // A regular expression over megabytes would exceed its stack.
  const comma = address.indexOf(',');
  const data = address.slice(comma + 1);
  return /;base64$/i.test(address.slice(0, comma))
    ? Buffer.from(data, 'base64')
    : Buffer.from(decodedText(data));
}

/** The extension of `data:image/jpeg;…`, which is the second word of a type that is not listed. */
export function dataExtension(address: string): string | undefined {
  const [, type = '', subtype] = /^data:([\w.+-]+\/(?:x-)?(\w+)[\w.+-]*)/.exec(address) ?? [];
  return extensionFor(type) ?? subtype;
}

/** A file name from an address, whose query is often a signature, or from the media type of a data URI. */
export function fileNameIn(address: string): string {
  const extension = dataExtension(address);
  if (extension !== undefined) return `output.${extension}`;
  const path = URL.canParse(address) ? new URL(address).pathname : '';
  return decodedText(path.split('/').findLast(Boolean) ?? '') || 'output';
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const operationSchema = z.looseObject({
  post: z.looseObject({
    requestBody: z.looseObject({
      content: z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) }),
    }),
  }),
});

/** The schema of the body of a POST to this path, from an OpenAPI document. */
export function bodySchemaIn(document: unknown, path: string): unknown {
  const { paths } = z.looseObject({ paths: z.looseObject({}) }).safeParse(document).data ?? {};
  const { data } = operationSchema.safeParse(paths?.[path]);
  return data?.post.requestBody.content['application/json'].schema;
}

const componentsSchema = z.looseObject({
  components: z.looseObject({ schemas: z.looseObject({ Input: z.unknown() }) }),
});

/** The schema of the inputs, from the OpenAPI document of a model that Cog has built. */
export const inputSchemaIn = (document: unknown): unknown =>
  componentsSchema.safeParse(document).data?.components.schemas.Input;
