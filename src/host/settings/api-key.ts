// Provides the API key from the environment or from a file. After a 401 the file is read again, so that running workers get a new
// key without a restart.

import { problem, errorMessage } from '../../errors/error.ts';
import { secretIn } from './key-file.ts';
import { keepSecret } from '../../errors/redact.ts';

export interface ApiKey {
  readonly value: string;
  /** The key's source for messages: a variable, or a variable and its file. */
  readonly from: string;
  /** Reads the file again; true if the key changed. Keeps the old key if the file has no usable key. */
  refresh(): boolean;
}

/** Throws E309 for a key that an HTTP header cannot carry. */
export function keyFromEnvironment(value: string, variable: string): ApiKey {
  const key = usableKey(variable, () => value.trim());
  return { value: key, from: variable, refresh: () => false };
}

/** `within`: the folder that must contain the file. Throws E309 for an unreadable file and for a key that an HTTP header cannot carry. */
export function keyFromFile(path: string, variable: string, within?: string): ApiKey {
  const from = `${variable} (${path})`;
  const read = (): string => usableKey(from, () => secretIn(path, within));
  let value = read();
  return {
    get value() {
      return value;
    },
    from,
    refresh: () => {
      const before = value;
      try {
        value = read();
      } catch {
        // The file may be in the middle of a replacement. With the old key, the service's response explains the problem.
        return false;
      }
      return value !== before;
    },
  };
}

function usableKey(from: string, read: () => string): string {
  try {
    const key = keepSecret(read());
    const why = flawOf(key);
    if (why !== undefined) throw new Error(why);
    return key;
  } catch (error) {
    throw problem('E309', { from, why: errorMessage(error) }, { cause: error });
  }
}

/** Why a header cannot carry the key. Names the position of a bad character, never the key. */
function flawOf(key: string): string | undefined {
  if (key === '') return 'it is empty';
  const at = key.search(/[^\x21-\x7e]/);
  if (at < 0) return undefined;
  const place = `character ${at + 1}`;
  if (/[\r\n]/.test(key.charAt(at))) return `it has a line break in it, at ${place}`;
  return key.charAt(at) === ' ' ? `it has a space in it, at ${place}` : `${place} is not allowed in a key`;
}

export const lastFour = (key: string): string => (key.length >= 12 ? `…${key.slice(-4)}` : '…');

/** The key from the settings, if they have one: from the environment, or from the file that they name. */
export function keyFromSettings(key: string | undefined, file: string | undefined): ApiKey | undefined {
  if (key) return keyFromEnvironment(key, 'RUNSHEET_API_KEY');
  return file === undefined ? undefined : keyFromFile(file, 'RUNSHEET_API_KEY_FILE');
}
