// Gives the payloads of our clients their labels (src/batch/payloads/labels.ts): a value is wrapped with its label, and the
// converter unwraps it.

import { Client, type ClientOptions, type ConnectionLike } from '@temporalio/client';
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { callSignal } from '../../host/call-signal.ts';
import { LABEL, memoLabel, signalLabel, workflowLabel } from '../../batch/payloads/labels.ts';

/** A symbol identifies wrapped values, because the SDK may load this file twice and a class would then differ. */
const WRAPPED = Symbol.for('runsheet labelled value');
type Labelled = { readonly [WRAPPED]: string; readonly value: unknown };

/** Keeps the type of the value, because the SDK passes it on unchanged until it is converted. */
export const labelled = <T>(label: string, value: T): T => ({ [WRAPPED]: label, value }) as T;

export const labelledMemo = <T extends Readonly<Record<string, unknown>>>(memo: T): T =>
  Object.fromEntries(
    Object.entries(memo).map(([field, value]) => [field, labelled(memoLabel(field), value)]),
  ) as T;

const isLabelled = (value: unknown): value is Labelled =>
  typeof value === 'object' && value !== null && WRAPPED in value;

/** The SDK finds the converter by this name. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => {
    if (!isLabelled(value)) return defaultPayloadConverter.toPayload(value);
    const { metadata, ...payload } = defaultPayloadConverter.toPayload(value.value);
    return { ...payload, metadata: { ...metadata, [LABEL]: Buffer.from(value[WRAPPED]) } };
  },
  fromPayload: (payload) => defaultPayloadConverter.fromPayload(payload),
};

const started = <T extends { readonly args: readonly unknown[]; readonly memo?: object }>(
  type: string,
  options: T,
): T => ({
  ...options,
  args: options.args.map((value) => labelled(workflowLabel(type, 'input'), value)),
  ...(options.memo === undefined ? {} : { memo: labelledMemo(options.memo as Record<string, unknown>) }),
});

const signalled = (name: string, args: readonly unknown[]): unknown[] =>
  args.map((value) => labelled(signalLabel(name), value));

/** Interceptors that label payloads. Schedules are labelled where they are created. */
const labelling = {
  workflow: [
    {
      startWithDetails: (input, next) =>
        next({ ...input, options: started(input.workflowType, input.options) }),
      signal: (input, next) => next({ ...input, args: signalled(input.signalName, input.args) }),
      signalWithStart: (input, next) =>
        next({
          ...input,
          options: started(input.workflowType, input.options),
          signalArgs: signalled(input.signalName, input.signalArgs),
        }),
    },
  ],
} satisfies ClientOptions['interceptors'];

/** A connection whose requests end with the library call that makes them. */
const inCalls = (connection: ConnectionLike): ConnectionLike =>
  through(connection, (value, name) =>
    name === 'workflowService' || name === 'operatorService'
      ? through(value as object, (method) =>
          typeof method === 'function' ? inCall(connection, method) : method,
        )
      : value,
  );

const inCall =
  (connection: ConnectionLike, send: Function) =>
  (...args: readonly unknown[]): unknown => {
    const signal = callSignal();
    if (signal === undefined) return send(...args);
    // The connection never releases a signal that it was given, so it gets a new one instead of the call's own.
    return connection.withAbortSignal(AbortSignal.any([signal]), async () => send(...args));
  };

/** Shows each member through `shown`; methods stay bound to the object. */
const through = <T extends object>(object: T, shown: (member: unknown, name: PropertyKey) => unknown): T =>
  new Proxy(object, {
    get: (of, name) => {
      const member: unknown = Reflect.get(of, name, of);
      return shown(typeof member === 'function' ? member.bind(of) : member, name);
    },
  });

/** Opens any client of ours. A client without our converter, in tests, labels nothing. */
export const openClient = (
  options: Pick<ClientOptions, 'connection' | 'namespace' | 'dataConverter'>,
): Client => {
  const hasOwn = options.dataConverter?.payloadConverterPath !== undefined;
  const { connection, ...settings } = options;
  return new Client({
    ...settings,
    ...(connection && { connection: inCalls(connection) }),
    ...(hasOwn ? { interceptors: labelling } : {}),
  });
};
