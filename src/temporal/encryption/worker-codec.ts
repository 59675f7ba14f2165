// The codec of a worker. The SDK tells it no names, so it passes on the label of each payload: to a workflow in the payload's
// metadata (workflows/payload-guard.ts), to an activity as a second argument (own-payloads.ts). It never throws for payloads of
// our workflows, because that would fail the whole task of a workflow for one bad signal: the reader decides.

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

type Context = SerializationContext | undefined;

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

/** The label of what the running activity writes; everything that a workflow writes has one already. */
function runningLabel(context: Context): string {
  const activity = context?.type === 'activity' ? asyncLocalStorage.getStore() : undefined;
  return activity === undefined ? OTHER : labelIn(activity.info, phaseOf(activity));
}

function readable(payload: Payload, keys: PayloadKeys, context: Context): Payload {
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
    // Everyone can write anything to an embedded server, and its worker has all keys.
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

/** One more argument for the activity: the label of its input, or why it is refused. */
function asArgument(read: readonly Payload[], context: Context): readonly Payload[] {
  if (context?.type !== 'activity' || !isOwnWorkflowId(ownerIn(context))) return [];
  const labels = read.flatMap(({ metadata }) => {
    const [refused, label] = [metadata?.[REFUSED], metadata?.[LABEL]].map((one) => one && String(one));
    return refused === undefined ? (label ?? []) : `${REFUSED} ${refused}`;
  });
  // Workflows read these.
  if (labels.every((label) => OUTPUT.test(label))) return [];
  return [defaultPayloadConverter.toPayload(labels.length === 1 ? labels[0] : 'several payloads')];
}

const OUTPUT = /^activity \S+ (?:result|failure|heartbeat) /;
