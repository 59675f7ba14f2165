// Reads the payload keys from the settings. Several keys allow key rotation: the first encrypts, all decrypt. The id
// of a key is a hash that reveals nothing about the key.

import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../host/settings/config.ts';
import { problem, errorMessage } from '../../errors/error.ts';
import { readOrCreateSecret } from '../../host/state-folder.ts';
import { keepSecret } from '../../errors/redact.ts';

export type PayloadKey = { readonly id: string; readonly key: KeyObject };

export type PayloadKeys = {
  /** The first encrypts, all decrypt; without keys, payloads are plain. */
  readonly keys: readonly PayloadKey[];
  /** Whether plain payloads are accepted although there are keys. */
  readonly readsPlain: boolean;
  /** Whether no other worker can have more keys. */
  readonly isComplete: boolean;
};

const KEY_BYTES = 32;

/** The kind of server: a cluster, or the embedded server of this state folder. */
export type ServerKind = 'cluster' | 'embedded';

/**
 * The keys of the settings; without a setting, an embedded server uses a generated key and a cluster none. Throws
 * E602 if the setting contains no key or a key of the wrong length, or if its file cannot be read.
 */
export function payloadKeys(
  { payload, home }: Pick<Config, 'payload' | 'home'>,
  server: ServerKind,
): PayloadKeys {
  const { keys, keysFile, plain } = payload;
  const from = keys === undefined ? `RUNSHEET_PAYLOAD_KEY_FILE (${keysFile})` : 'RUNSHEET_PAYLOAD_KEY';
  const text = keys ?? (keysFile === undefined ? undefined : textOf(keysFile, from));
  if (text === undefined)
    return server === 'embedded' ? drawnKeys(home) : { keys: [], readsPlain: true, isComplete: false };
  const words = text.split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) throw wrong(`${from} is empty`);
  return {
    keys: words.map((word, index) => keyOf(word, from, index + 1)),
    readsPlain: plain === 'read',
    isComplete: server === 'embedded',
  };
}

/** The file of the key that was generated for the embedded server. */
export const drawnKeyFile = (home: string): string => join(home, 'payload-key');

/**
 * The keys of an embedded server. Every user of the machine can connect to it, so all its payloads are encrypted, and
 * a plain payload comes from another program and is refused.
 */
function drawnKeys(home: string): PayloadKeys {
  const file = drawnKeyFile(home);
  return { keys: [keyOf(readOrCreateSecret(file), file, 1)], readsPlain: false, isComplete: true };
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
    throw wrong(`key ${place} in ${from} has ${bytes.length} bytes instead of ${KEY_BYTES}`);
  const id = createHash('sha256').update('runsheet payload key ').update(bytes).digest('hex').slice(0, 12);
  return { id, key: createSecretKey(bytes) };
}

const wrong = (what: string) =>
  problem('E602', {
    what,
    hint: 'a key is 32 random bytes as hex or base64; create one with: openssl rand -hex 32 (write several keys one per line)',
  });
