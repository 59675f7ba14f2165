// Lets every library call take an AbortSignal as a field of its last argument, by wrapping its methods once.

import { problem, withTemporalFault } from '../errors/error.ts';
import { callWith, readWith } from '../host/call-signal.ts';

export type { Abortable } from '../host/call-signal.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type GeneratorMethod = (this: unknown, ...args: unknown[]) => AsyncGenerator;

/** Wraps the methods of an object, or of a prototype, so that they take a signal. The methods themselves never see it. */
export function takeSignals<T extends object>(methods: T): T {
  for (const [name, { value, ...is }] of Object.entries(Object.getOwnPropertyDescriptors(methods)))
    if (typeof value === 'function' && name !== 'constructor')
      Object.defineProperty(methods, name, { ...is, value: takingSignal(value as Method) });
  return methods;
}

function takingSignal(method: Method): Method {
  const isReading: boolean = method instanceof AsyncGeneratorFunction;
  return function (...callArgs) {
    const { signal, args } = withoutSignal(callArgs);
    if (isReading) {
      const read = (): AsyncGenerator => (method as GeneratorMethod).apply(this, args);
      return readInOurWords(signal === undefined ? read() : readWith(signal, read));
    }
    return inOurWords(
      signal === undefined ? method.apply(this, args) : callWith(signal, () => method.apply(this, args)),
    );
  };
}

/** Errors of Temporal's client have no code of ours. */
function inOurWords(result: unknown): unknown {
  if (!(result instanceof Promise)) return result;
  return result.catch((error: unknown) => {
    throw withTemporalFault(error);
  });
}

async function* readInOurWords(read: AsyncGenerator): AsyncGenerator {
  try {
    yield* read;
  } catch (error) {
    throw withTemporalFault(error);
  }
}

const AsyncGeneratorFunction = async function* () {}.constructor as FunctionConstructor;

/** Throws E602 if `signal` is not an AbortSignal. */
function withoutSignal(callArgs: readonly unknown[]): {
  readonly signal?: AbortSignal;
  readonly args: unknown[];
} {
  const last: unknown = callArgs.at(-1);
  if (!isPlain(last) || !('signal' in last)) return { args: [...callArgs] };
  const { signal, ...options } = last;
  const args = [...callArgs.slice(0, -1), options];
  if (signal === undefined) return { args };
  if (signal instanceof AbortSignal) return { signal, args };
  throw problem('E602', {
    what: 'signal is no AbortSignal',
    hint: 'for example: AbortSignal.timeout(60_000)',
  });
}

/** Whether the last argument is an options object, and not rows. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
