// What Temporal is given, encrypted: whole payloads, with AES-256-GCM and a fresh IV each. A payload says which key it needs
// and whose it is; both are authenticated, so that one workflow's payload means nothing in another.
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
import { RunsheetError, problem } from '../../errors/error.ts';
import type { PayloadKey, PayloadKeys } from './payload-keys.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Without keys it encrypts nothing, and still says what is missing. Its `decode` throws E407, E408 and E409. */
export function encryptionWith({ keys, readsPlain }: PayloadKeys): PayloadCodec {
  const [first] = keys;
  return {
    encode: async (payloads, context) =>
      first === undefined ? payloads : payloads.map((payload) => encrypted(payload, first, ownerIn(context))),
    decode: async (payloads, context) =>
      payloads.map((payload) => {
        if (wordIn(payload, 'encoding') === ENCODING) return decrypted(payload, keys, ownerIn(context));
        if (readsPlain) return payload;
        throw problem('E408', { owner: ownerIn(context) });
      }),
  };
}

/**
 * The same for a worker. What it cannot read fails the step before it began: a step that buys is sent again without a doubt,
 * every other one is tried again, here or by a worker that has the key.
 */
export function workerEncryptionWith(keys: PayloadKeys): PayloadCodec {
  const { encode, decode } = encryptionWith(keys);
  return {
    encode,
    decode: async (payloads, context) => {
      try {
        // Anybody could give it to an activity that belongs to no workflow.
        if (keys.keys.length > 0 && ownerIn(context) === '')
          throw problem('E409', { owner: '', why: 'it was given to an activity of no workflow' });
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
  const id = wordIn(payload, 'encryption-key-id');
  const owner = wordIn(payload, 'encryption-owner');
  const found = keys.find((one) => one.id === id);
  if (found === undefined) throw problem('E407', { id, owner, known: keys.map((one) => one.id) });
  if (reader !== '' && reader !== owner)
    throw problem('E409', { owner: reader, why: `it belongs to ${owner || 'nobody'}` });
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

/** The workflow that a payload is of; empty where the SDK does not say. */
const ownerIn = (context: SerializationContext | undefined): string => context?.workflowId ?? '';

const labelOf = (id: string, owner: string): Buffer => Buffer.from(`${id}\n${owner}`);

const wordIn = ({ metadata }: Payload, name: string): string =>
  Buffer.from(metadata?.[name] ?? []).toString();
