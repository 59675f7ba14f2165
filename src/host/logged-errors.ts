// Makes errors in log facts visible, because JSON.stringify writes an Error as {}.

import { types } from 'node:util';
import { errorMessage } from '../errors/error.ts';

/** A bound, because a cause may lead back to its error; facts are shallow. */
const DEPTH = 6;

/** `value` with each error replaced by its message and stack. Other properties are dropped, because they may hold payloads. */
export function withPlainErrors(value: unknown, depth = DEPTH): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isError(value)) return plainError(value, depth);
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withPlainErrors(item, depth - 1));
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  if (!isPlain) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, fact]) => [name, withPlainErrors(fact, depth - 1)]),
  );
}

/** Errors of the workflow sandbox belong to another realm. */
const isError = (value: object): value is Error => value instanceof Error || types.isNativeError(value);

function plainError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  const type = (error as { readonly type?: unknown }).type;
  return {
    ...(typeof type === 'string' ? { type } : { type: name }),
    message: error instanceof Error ? errorMessage(error) : message,
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined || depth === 0 ? {} : { cause: withPlainErrors(cause, depth - 1) }),
  };
}
