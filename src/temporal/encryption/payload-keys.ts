// The keys that encrypt what Temporal is given, from a setting. Several keys are for changing them: the first encrypts, all
// decrypt. A key is told from another by an id that is made from it and tells nothing about it.

import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../host/config.ts';
import { problem, errorMessage } from '../../errors/error.ts';
import { readOrCreateSecret } from '../../host/secret-file.ts';
import { keepSecret } from '../../errors/redact.ts';

export type PayloadKey = { readonly id: string; readonly key: KeyObject };

export type PayloadKeys = {
  /** The first encrypts, all decrypt; where there is none, payloads are plain. */
  readonly keys: readonly PayloadKey[];
  /** Whether plain payloads are read although there are keys. */
  readonly readsPlain: boolean;
};

const KEY_BYTES = 32;

/** Whose server it is: one of a cluster, or the embedded one of this place. */
export type Server = 'cluster' | 'embedded';

/**
 * The keys of the settings; without a setting, an embedded server has a key of its place and a cluster has none. Throws E602
 * where the setting holds no keys, or one of another length, or its file cannot be read.
 */
export function payloadKeys(
  { payload, home }: Pick<Config, 'payload' | 'home'>,
  server: Server,
): PayloadKeys {
  const { keys, keysFile, plain } = payload;
  const from = keys === undefined ? `RUNSHEET_PAYLOAD_KEY_FILE (${keysFile})` : 'RUNSHEET_PAYLOAD_KEY';
  const text = keys ?? (keysFile === undefined ? undefined : textOf(keysFile, from));
  if (text === undefined) return server === 'embedded' ? drawnKeys(home) : { keys: [], readsPlain: true };
  const words = text.split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) throw wrong(`${from} is empty`);
  return { keys: words.map((word, index) => keyOf(word, from, index + 1)), readsPlain: plain === 'read' };
}

/** Where the key of a place lies that was drawn for its embedded server. */
export const drawnKeyFile = (home: string): string => join(home, 'payload-key');

/**
 * Everybody on the machine can talk to an embedded server, so all that it holds is encrypted. Nothing was ever written plain
 * there: what is plain was written by a stranger, and is refused.
 */
function drawnKeys(home: string): PayloadKeys {
  const file = drawnKeyFile(home);
  return { keys: [keyOf(readOrCreateSecret(file), file, 1)], readsPlain: false };
}

function textOf(file: string, from: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(`${from} cannot be read: ${errorMessage(error)}`);
  }
}

function keyOf(word: string, from: string, place: number): PayloadKey {
  keepSecret(word);
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(word);
  const bytes = Buffer.from(word, isHex ? 'hex' : 'base64');
  if (!isHex && !/^[\w+/-]+=*$/.test(word)) throw wrong(`key ${place} in ${from} is neither hex nor base64`);
  if (bytes.length !== KEY_BYTES)
    throw wrong(`key ${place} in ${from} has ${bytes.length} bytes, and ${KEY_BYTES} are needed`);
  const id = createHash('sha256').update('runsheet payload key ').update(bytes).digest('hex').slice(0, 12);
  return { id, key: createSecretKey(bytes) };
}

const wrong = (what: string) =>
  problem('E602', {
    what,
    hint: 'a key is 32 random bytes as hex or base64, such as openssl rand -hex 32 makes; several stand one to a line',
  });
