// Encrypts whole payloads with AES-256-GCM and a new IV each. A payload names its key and its workflow; both are authenticated,
// so one workflow's payload cannot be used in another. Only the firings of a schedule share theirs.
//
//   metadata  encoding binary/encrypted · encryption-key-id · encryption-owner <workflow id>
//   data      IV (12 bytes) · the encrypted payload · tag (16 bytes)

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  ApplicationFailure,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { scheduleOfFiring } from '../../batch/workflow-ids.ts';
import { RunsheetError, problem } from '../../errors/error.ts';
import type { PayloadKey, PayloadKeys } from './payload-keys.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Without keys it encrypts nothing, but `decode` still names the missing key. `decode` throws E407, E408 and E409. */
export function encryptionWith({ keys, readsPlain }: PayloadKeys): PayloadCodec {
  const [first] = keys;
  return {
    encode: async (payloads, context) =>
      first === undefined ? payloads : payloads.map((payload) => encrypted(payload, first, ownerIn(context))),
    decode: async (payloads, context) =>
      payloads.map((payload) => {
        if (metadataOf(payload, 'encoding') === ENCODING) return decrypted(payload, keys, ownerIn(context));
        if (readsPlain) return payload;
        throw problem('E408', { owner: ownerIn(context) });
      }),
  };
}

/**
 * The same for a worker. If a payload cannot be decoded, the activity fails before it starts: a group is then sent again safely,
 * and every other activity is retried, here or on a worker that has the key.
 */
export function workerEncryptionWith(keys: PayloadKeys): PayloadCodec {
  const { encode, decode } = encryptionWith(keys);
  return {
    encode,
    decode: async (payloads, context) => {
      try {
        // Anyone could pass a copied payload to an activity without a workflow.
        if (keys.keys.length > 0 && ownerIn(context) === '')
          throw problem('E409', { owner: '', why: 'it was passed to an activity without a workflow' });
        return await decode(payloads, context);
      } catch (error) {
        if (!(error instanceof RunsheetError)) throw error;
        const message = `${error.code}: ${error.message}; ${error.hint}`;
        throw ApplicationFailure.create({ message, type: 'NothingSent' });
      }
    },
  };
}

function encrypted(payload: Payload, { id, key }: PayloadKey, owner: string): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(labelOf(id, owner));
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
    },
    data: Buffer.concat(data),
  };
}

function decrypted(payload: Payload, keys: readonly PayloadKey[], reader: string): Payload {
  const id = metadataOf(payload, 'encryption-key-id');
  const owner = metadataOf(payload, 'encryption-owner');
  const found = keys.find((one) => one.id === id);
  if (found === undefined) throw problem('E407', { id, owner, known: keys.map((one) => one.id) });
  if (reader !== '' && reader !== owner && !isOfSchedule(owner, reader))
    throw problem('E409', { owner: reader, why: `it belongs to ${owner || 'no workflow'}` });
  const data = Buffer.from(payload.data ?? []);
  try {
    const decipher = createDecipheriv(CIPHER, found.key, data.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(labelOf(id, owner)).setAuthTag(data.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(data.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return PayloadMessage.decode(text);
  } catch (error) {
    throw problem('E409', { owner, why: 'it was changed after it was encrypted' }, { cause: error });
  }
}

/** A firing reads the payload of its schedule, and the result of the firing before it, which Temporal passes on. */
const isOfSchedule = (owner: string, reader: string): boolean =>
  scheduleOfFiring(reader) !== undefined && scheduleOfFiring(reader) === scheduleOfFiring(owner);

/** The workflow that a payload belongs to; empty if the SDK does not name it. */
const ownerIn = (context: SerializationContext | undefined): string => context?.workflowId ?? '';

const labelOf = (id: string, owner: string): Buffer => Buffer.from(`${id}\n${owner}`);

const metadataOf = ({ metadata }: Payload, name: string): string =>
  Buffer.from(metadata?.[name] ?? []).toString();
