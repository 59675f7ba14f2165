// Encrypts whole payloads with AES-256-GCM and a new IV each. A payload names its key, its workflow and its label
// (kind, name and direction; src/batch/payloads/labels.ts). All three are authenticated, so a payload cannot be used
// in another workflow, nor in another place of its own workflow. Only the firings of a schedule share their payloads.
//
//   metadata  encoding binary/encrypted · encryption-key-id · encryption-owner <workflow id> · encryption-label <label>
//   data      IV (12 bytes) · the encrypted payload · tag (16 bytes)

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import { activityIdIn, ELSEWHERE, isForClients, LABEL, OTHER, REFUSED } from '../../batch/payloads/labels.ts';
import { scheduleOfFiring } from '../../batch/workflow-ids.ts';
import { problem } from '../../errors/error.ts';
import type { PayloadKey, PayloadKeys } from './payload-keys.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

type CodecContext = SerializationContext | undefined;

/**
 * A codec with these keys. Without keys it encrypts nothing, but `decode` still names the missing key. `decode`
 * throws E407, E408 and E409.
 */
export function encryptionWith({ keys, readsPlain }: PayloadKeys): PayloadCodec {
  const [first] = keys;
  return {
    encode: async (payloads, context) => payloads.map((payload) => encoded(payload, first, context)),
    decode: async (payloads, context) =>
      payloads.map((payload) => decoded(payload, { keys, readsPlain }, context).payload),
  };
}

/**
 * The same for our own clients, which never read payloads that are meant for workflows and activities. Throws E409
 * for those.
 */
export function clientEncryptionWith(keys: PayloadKeys): PayloadCodec {
  return {
    encode: encryptionWith(keys).encode,
    decode: async (payloads, context) =>
      payloads.map((encryptedPayload) => {
        const { payload, label = OTHER } = decoded(encryptedPayload, keys, context);
        if (!isForClients(label)) throw misplaced(context, label);
        return payload;
      }),
  };
}

/** Encrypts the payload under the label in its metadata; `otherwise` for a payload without one. */
export function encoded(
  { metadata, data }: Payload,
  key: PayloadKey | undefined,
  context: CodecContext,
  otherwise: () => string = () => OTHER,
): Payload {
  const { [LABEL]: label, ...kept } = metadata ?? {};
  const payload = { ...(metadata == null ? {} : { metadata: kept }), ...(data == null ? {} : { data }) };
  if (key === undefined) return payload;
  return encrypted(payload, key, ownerIn(context), label == null ? otherwise() : textOf(label));
}

/** Decrypts the payload. The label is absent for a plain payload. */
export function decoded(
  payload: Payload,
  { keys, readsPlain }: Pick<PayloadKeys, 'keys' | 'readsPlain'>,
  context: CodecContext,
): { readonly payload: Payload; readonly label?: string } {
  if (metadataOf(payload, 'encoding') === ENCODING) return decrypted(payload, keys, context);
  if (!readsPlain) throw problem('E408', { owner: ownerIn(context) });
  // Marks that only a worker's codec may set: the guard of our workflows believes them.
  const forged = [LABEL, REFUSED, ELSEWHERE].filter((name) => payload.metadata?.[name] != null);
  if (forged.length === 0) return { payload };
  const believed = Object.entries(payload.metadata ?? {}).filter(([name]) => !forged.includes(name));
  return { payload: { ...payload, metadata: Object.fromEntries(believed) } };
}

function encrypted(payload: Payload, { id, key }: PayloadKey, owner: string, label: string): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(authenticated(id, owner, label));
  const data = [
    iv,
    cipher.update(PayloadMessage.encode(payload).finish()),
    cipher.final(),
    cipher.getAuthTag(),
  ];
  return {
    metadata: {
      encoding: Buffer.from(ENCODING),
      'encryption-key-id': Buffer.from(id),
      'encryption-owner': Buffer.from(owner),
      'encryption-label': Buffer.from(label),
    },
    data: Buffer.concat(data),
  };
}

function decrypted(payload: Payload, keys: readonly PayloadKey[], context: CodecContext) {
  const id = metadataOf(payload, 'encryption-key-id');
  const owner = metadataOf(payload, 'encryption-owner');
  const label = metadataOf(payload, 'encryption-label');
  const reader = ownerIn(context);
  const payloadKey = keys.find((candidate) => candidate.id === id);
  if (payloadKey === undefined)
    throw problem('E407', { id, owner, known: keys.map((candidate) => candidate.id) });
  if (reader !== '' && reader !== owner && !isOfSchedule(owner, reader))
    throw problem('E409', { owner: reader, why: `it belongs to ${owner || 'no workflow'}` });
  const data = Buffer.from(payload.data ?? []);
  let plain: Payload;
  try {
    const decipher = createDecipheriv(CIPHER, payloadKey.key, data.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(authenticated(id, owner, label)).setAuthTag(data.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(data.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    plain = PayloadMessage.decode(text);
  } catch (error) {
    throw problem('E409', { owner, why: 'it was changed after it was encrypted' }, { cause: error });
  }
  if (!isOfKind(label, context)) throw misplaced(context, label);
  return { payload: plain, label };
}

const misplaced = (context: CodecContext, label: string) =>
  problem('E409', { owner: ownerIn(context), why: `it was encrypted for another place: ${label}` });

/** Whether a label fits the context: the SDK names the activity of a payload, and otherwise only the workflow. */
function isOfKind(label: string, context: CodecContext): boolean {
  if (context === undefined || label === OTHER) return true;
  const activityId = activityIdIn(label);
  return context.type === 'activity' ? activityId === context.activityId : activityId === undefined;
}

/** A firing reads the payload of its schedule, and the result of the firing before it, which Temporal passes on. */
const isOfSchedule = (owner: string, reader: string): boolean =>
  scheduleOfFiring(reader) !== undefined && scheduleOfFiring(reader) === scheduleOfFiring(owner);

/** The workflow that a payload belongs to; empty if the SDK does not name it. */
export const ownerIn = (context: CodecContext): string => context?.workflowId ?? '';

/** The authenticated text; none of its three parts contains a line break. */
const authenticated = (id: string, owner: string, label: string): Buffer =>
  Buffer.from(`${id}\n${owner}\n${label}`);

const textOf = (value: Uint8Array): string => Buffer.from(value).toString();

const metadataOf = ({ metadata }: Payload, name: string) => textOf(metadata?.[name] ?? new Uint8Array());
