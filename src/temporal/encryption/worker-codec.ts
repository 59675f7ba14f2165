// The codec of a worker. The SDK does not tell it names, so it passes on the label of each payload: to a workflow in
// the payload's metadata (workflows/payload-guard.ts), to an activity as a second argument (own-payloads.ts). For
// payloads of our workflows it never throws, because one bad signal would fail a whole workflow task: the reader
// decides.

import { asyncLocalStorage } from '@temporalio/activity';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import { ELSEWHERE, isOwnWorkflowId, LABEL, OTHER, REFUSED } from '../../batch/payloads/labels.ts';
import { codedMessage, problem, RunsheetError } from '../../errors/error.ts';
import { decoded, encoded, ownerIn } from './codec.ts';
import type { PayloadKeys } from './payload-keys.ts';
import { labelIn, phaseOf } from './own-payloads.ts';

type CodecContext = SerializationContext | undefined;

export function workerEncryptionWith(keys: PayloadKeys): PayloadCodec {
  const [first] = keys.keys;
  return {
    encode: async (payloads, context) =>
      payloads.map((payload) => encoded(payload, first, context, () => runningLabel(context))),
    decode: async (payloads, context) => {
      const read = payloads.map((payload) => readable(payload, keys, context));
      return [...read, ...asArgument(read, context)];
    },
  };
}

/** The label of payloads that the running activity writes; payloads that a workflow writes have one already. */
function runningLabel(context: CodecContext): string {
  const activity = context?.type === 'activity' ? asyncLocalStorage.getStore() : undefined;
  return activity === undefined ? OTHER : labelIn(activity.info, phaseOf(activity));
}

function readable(payload: Payload, keys: PayloadKeys, context: CodecContext): Payload {
  try {
    // Anyone could pass a copied payload to an activity without a workflow.
    if (keys.keys.length > 0 && ownerIn(context) === '')
      throw problem('E409', { owner: '', why: 'it was passed to an activity without a workflow' });
    const { payload: plain, label } = decoded(payload, keys, context);
    return label === undefined ? plain : marked(plain, { [LABEL]: label });
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    const reason = codedMessage(error);
    // An application's own workflows have no guard that reads the marks.
    if (!isOwnWorkflowId(ownerIn(context)))
      throw ApplicationFailure.create({ message: reason, type: 'NothingSent' });
    // Anyone can write anything to an embedded server, and its worker has all keys.
    const isElsewhere = error.code === 'E407' && !keys.isComplete;
    return marked(NOTHING, { [REFUSED]: reason, ...(isElsewhere ? { [ELSEWHERE]: 'yes' } : {}) });
  }
}

const NOTHING = defaultPayloadConverter.toPayload(undefined);

const marked = (payload: Payload, marks: Readonly<Record<string, string>>): Payload => ({
  ...payload,
  metadata: {
    ...payload.metadata,
    ...Object.fromEntries(Object.entries(marks).map(([name, text]) => [name, Buffer.from(text)])),
  },
});

/** Adds an argument for the activity: the label of its input, or the reason why it is refused. */
function asArgument(read: readonly Payload[], context: CodecContext): readonly Payload[] {
  if (context?.type !== 'activity' || !isOwnWorkflowId(ownerIn(context))) return [];
  const labels = read.flatMap(({ metadata }) => {
    const [refused, label] = [metadata?.[REFUSED], metadata?.[LABEL]].map((bytes) => bytes && String(bytes));
    return refused === undefined ? (label ?? []) : `${REFUSED} ${refused}`;
  });
  // Workflows read these payloads.
  if (labels.every((label) => OUTPUT.test(label))) return [];
  return [defaultPayloadConverter.toPayload(labels.length === 1 ? labels[0] : 'several payloads')];
}

const OUTPUT = /^activity \S+ (?:result|failure|heartbeat) /;
