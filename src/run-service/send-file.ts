// Uploads a file to the service, so that its address can be an input. An upload buys nothing, so it is tried again.

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { errorMessage, problem } from '../errors/error.ts';
import { mediaTypeOf } from '../host/media-types.ts';
import type { RawAnswer } from './answer.ts';
import { isAbsent, keyRefused, readAs } from './calls.ts';
import type { ServiceConnection } from './connection.ts';
import { PATHS, uploadedSchema } from './contract/paths.ts';

export type FileToSend = {
  readonly name: string;
  readonly bytes: number;
  /** Its content, from the beginning; read again if the upload is tried again. */
  open(): AsyncIterable<Uint8Array>;
};

/** A file has at most 250 MB, and a slow line takes minutes for that. */
const DEADLINE_MS = 900_000;
const TRIES = 4;
const AGAIN_MS = 1_000;

/**
 * Its address; undefined if the service takes no files. Throws E301 if it refuses the key, E304 if it cannot be reached or refuses the
 * file, and what `open` throws.
 */
export async function sendFile(at: ServiceConnection, file: FileToSend): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendOnce(at, file, tries === TRIES);
    const isLate = answer === undefined || answer.status >= 500 || answer.status === 429;
    if (isLate && tries < TRIES) await wait(AGAIN_MS * 2 ** (tries - 1));
    else if (answer?.status === 401 && tries < TRIES && at.key.refresh()) continue;
    else if (answer !== undefined) return addressIn(at, answer);
  }
}

/** undefined if the service could not be reached, and there is a next try. */
async function sendOnce(
  at: ServiceConnection,
  file: FileToSend,
  isLast: boolean,
): Promise<RawAnswer | undefined> {
  const edge = `runsheet-${randomUUID()}`;
  const begin = Buffer.from(
    `--${edge}\r\ncontent-disposition: form-data; name="file"; filename="${quotable(file.name)}"\r\ncontent-type: ${sentAs(file.name)}\r\n\r\n`,
  );
  const end = Buffer.from(`\r\n--${edge}--\r\n`);
  let fault: unknown;
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    yield begin;
    try {
      yield* file.open();
    } catch (error) {
      fault = error;
      throw error;
    }
    yield end;
  };
  try {
    const answer = await request(`${at.base}${PATHS.upload}`, {
      dispatcher: at.transport,
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.key.value}`,
        'content-type': `multipart/form-data; boundary=${edge}`,
        'content-length': String(begin.length + file.bytes + end.length),
        accept: 'application/json',
      },
      body: Readable.from(parts()),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    at.clock.note(answer.headers['date']);
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  } catch (error) {
    // A file that cannot be read is no fault of the service.
    if (fault !== undefined) throw fault;
    if (isLast) throw problem('E304', { base: at.base, reason: errorMessage(error) }, { cause: error });
    return undefined;
  }
}

function addressIn(at: ServiceConnection, answer: RawAnswer): string | undefined {
  if (isAbsent(answer)) return undefined;
  if (answer.status === 401 || answer.status === 403) throw keyRefused(at, answer);
  // Throws for every other status than a success.
  return readAs(at, PATHS.upload, answer, uploadedSchema);
}

/** The service takes images, videos, audio and applications, but no texts. */
const sentAs = (name: string): string => mediaTypeOf(name).replace(/^text\/.*/, 'application/octet-stream');

/** A name inside quotes of a header. */
const quotable = (name: string): string => name.replaceAll(/["\\\r\n]/g, '_');
