// Refusals of S3 as errors with the place, the reason and the remedy.

import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord, shortened } from '../../errors/outside-text.ts';
import { s3Address, type S3Place } from '../../host/s3-address.ts';
import { WAYS_TO_KEYS } from '../../host/settings/s3-keys.ts';
import type { AnswerTooLarge } from './answer-body.ts';
import { ObjectFault } from '../store.ts';
import { textOf, textsIn } from './s3-xml.ts';

export type Refusal = { readonly status: number; readonly code: string; readonly message: string };

/** The refusal in a response; HEAD has none in its body. */
export function refusalIn(status: number, body: Uint8Array): Refusal {
  const texts = textsIn(Buffer.from(body).toString());
  const code = textOf(texts, 'Error/Code') ?? '';
  return { status, code, message: textOf(texts, 'Error/Message') ?? '' };
}

/** Refusals that say nothing about the request: it may succeed when it is repeated. */
const AGAIN = new Set([408, 429, 500, 502, 503, 504]);
const AGAIN_CODES = new Set([
  'RequestTimeout',
  'ConditionalRequestConflict',
  'OperationAborted',
  'SlowDown',
  // These codes also come with status 200.
  'InternalError',
  'ServiceUnavailable',
]);

export const isPassing = ({ status, code }: Refusal): boolean => AGAIN.has(status) || AGAIN_CODES.has(code);

/** Whether S3 refuses one object that exists: an archived one, or one encrypted with a key of another program. */
const isOfObject = ({ status, code }: Refusal): boolean =>
  code === 'InvalidObjectState' || (status === 400 && code === 'InvalidRequest');

/** Like {@link refused}, for the request of a whole object. */
export const refusedObject = (place: S3Place, refusal: Refusal): RunsheetError =>
  refused(place, refusal, isOfObject(refusal) ? new ObjectFault(refusal.code) : undefined);

const fault = (place: S3Place, reason: string, hint: string, cause?: unknown): RunsheetError =>
  problem('E612', { place: s3Address(place), reason, hint }, { cause });

export function refused(place: S3Place, refusal: Refusal, cause?: unknown): RunsheetError {
  const { status, code, message } = refusal;
  const words = [shortened(code, 80) || `it answers ${status}`, shortened(message, 200)];
  return fault(place, words.filter(Boolean).join(': '), hintFor(place, refusal), cause);
}

export function unreachable(place: S3Place, host: string, reason: string, cause: unknown): RunsheetError {
  const hint = 'check the network and AWS_ENDPOINT_URL_S3; nothing is lost: repeat the same command';
  return fault(place, `${host} cannot be reached: ${reason}`, hint, cause);
}

export function tooLarge(place: S3Place, cause: AnswerTooLarge): RunsheetError {
  const hint = 'check who can write to the bucket, and AWS_ENDPOINT_URL_S3';
  const ofObject = cause.kind === 'xml' ? cause : new ObjectFault(cause.message, { cause });
  return fault(place, cause.message, hint, ofObject);
}

export function withoutUrl(place: S3Place, key: string): RunsheetError {
  const hint = 'remove that object, or abort that upload, with another program, for example with: aws s3api';
  return fault(place, `no URL names its key ${JSON.stringify(shortened(key, 200))}`, hint);
}

export function withoutKeys(place: S3Place, cause: unknown): RunsheetError {
  const reason = `there are no keys of S3: ${shortened(errorMessage(cause), 200)}`;
  return fault(place, reason, WAYS_TO_KEYS, cause);
}

export function withoutConditions(place: S3Place, condition: 'If-Match' | 'If-None-Match'): RunsheetError {
  const hint = 'use a server with conditional writes, or a local folder for --out';
  return fault(place, `its server ignores ${condition}, so one writer could overwrite another`, hint);
}

const KEYS = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'InvalidToken']);
const REGIONS = new Set(['PermanentRedirect', 'AuthorizationHeaderMalformed', 'TemporaryRedirect']);

function hintFor({ bucket }: S3Place, { code, status }: Refusal): string {
  if (code === 'NoSuchBucket')
    return `make the bucket, for example with: aws s3 mb ${shellWord(`s3://${bucket}`)}; or name another place with --out`;
  if (KEYS.has(code))
    return 'set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for keys that expire, AWS_SESSION_TOKEN, or use a profile or role, whose keys are renewed; restart the workers with them';
  if (code === 'RequestTimeTooSkewed') return 'set the clock of this machine';
  if (REGIONS.has(code) || status === 301) return `set AWS_REGION to the region of ${bucket}`;
  if (status === 403)
    return `allow these keys s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads on ${bucket}`;
  if (isPassing({ code, status, message: '' }))
    return 'nothing is lost: repeat the same command when S3 answers';
  return 'check the bucket and AWS_ENDPOINT_URL_S3';
}
