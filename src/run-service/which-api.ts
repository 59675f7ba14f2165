// Detects the API version of a base address with two free requests: V2 answers an invalid run id with its validation error, and
// V1 answers a random run id with its "not found" error.

import { randomUUID } from 'node:crypto';
import { problem } from '../errors/error.ts';
import { jsonOf, messageOf, type RawAnswer } from './answer.ts';
import type { Api } from '../host/api-version.ts';
import { createCaller } from './calls.ts';
import type { ServiceConnection } from './connection.ts';
import { errorSchema } from './contract/queue.ts';
import { isUnknownV1Run, v1RunPath } from './contract/v1.ts';

const NO_RUN_ID = 'no-run-id';
const SHOWN = 80;

/** Throws E301 if the key is refused, E304 if nothing answers, E307 if the answers are not those of a run service. */
export async function whichApi(at: ServiceConnection): Promise<Api> {
  const ask = createCaller(at);
  const malformed = await ask('GET', `/run/${NO_RUN_ID}`);
  if (isValidationFailure(malformed)) return 'v2';
  const unknown = await ask('GET', v1RunPath(randomUUID()));
  if (isUnknownV1Run(unknown.status, messageOf(unknown))) return 'v1';
  // A gateway answers for an unreachable service.
  if (malformed.status >= 500 && unknown.status >= 500)
    throw problem('E304', { base: at.base, reason: `it answered ${shown(malformed)}` });
  throw problem('E307', {
    base: at.base,
    answers: [`GET /run/${NO_RUN_ID}: ${shown(malformed)}`, `GET /run?run_id=…: ${shown(unknown)}`],
  });
}

function isValidationFailure({ status, text }: RawAnswer): boolean {
  const error = errorSchema.safeParse(jsonOf(text));
  const hasProblems = error.success && Array.isArray(error.data.detail) && error.data.detail.length > 0;
  return status >= 400 && status < 500 && hasProblems;
}

const shown = (answer: RawAnswer): string => `${answer.status} ${messageOf(answer).slice(0, SHOWN)}`.trim();
