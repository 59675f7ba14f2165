// Gives the payloads of our clients their labels (src/batch/payloads/labels.ts): a value is wrapped with its label, and the
// converter unwraps it.

import { Client, type ClientOptions } from '@temporalio/client';
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { LABEL, memoLabel, signalLabel, workflowLabel } from '../../batch/payloads/labels.ts';

/** The SDK may load this file a second time, so no class identifies a wrapped value. */
const WRAPPED = Symbol.for('runsheet labelled value');
type Labelled = { readonly [WRAPPED]: string; readonly value: unknown };

/** The type of the value, because the SDK passes it on unchanged until it is converted. */
export const labelled = <T>(label: string, value: T): T => ({ [WRAPPED]: label, value }) as T;

export const labelledMemo = <T extends Readonly<Record<string, unknown>>>(memo: T): T =>
  Object.fromEntries(
    Object.entries(memo).map(([field, value]) => [field, labelled(memoLabel(field), value)]),
  ) as T;

const isLabelled = (value: unknown): value is Labelled =>
  typeof value === 'object' && value !== null && WRAPPED in value;

/** The SDK finds it by this name. */
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

/** Schedules are labelled where they are made. */
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

/** Every client of ours. One without our converter, in tests, labels nothing. */
export const openClient = (
  options: Pick<ClientOptions, 'connection' | 'namespace' | 'dataConverter'>,
): Client => {
  const hasOwn = options.dataConverter?.payloadConverterPath !== undefined;
  return new Client({ ...options, ...(hasOwn ? { interceptors: labelling } : {}) });
};
