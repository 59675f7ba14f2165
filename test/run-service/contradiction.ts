// Holds an answer of the service against the operation that gave it.

import { z } from 'zod';
import type { Operation } from '../../src/run-service/operations.ts';

type CheckedAnswer = { readonly status: number; readonly headers: object; readonly text: string };

/** How the answer differs from what the operation may answer; undefined if it does not. */
export function contradiction(
  { route, answers }: Operation,
  { status, headers, text }: CheckedAnswer,
): string | undefined {
  const place = `${route} ${status}`;
  if (!(status in answers)) return `${place} is no answer of it: ${text}`;
  const schema = answers[status];
  const isJson = String((headers as Record<string, unknown>)['content-type']).startsWith('application/json');
  if (isJson !== (schema !== undefined)) return `${place} is of another media type: ${text}`;
  const error = schema?.safeParse(JSON.parse(text)).error;
  return error && `${place} contradicts its schema: ${z.prettifyError(error)} in ${text}`;
}
