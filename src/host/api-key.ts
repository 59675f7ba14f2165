// The API key, from the environment or from a file. A file is read again when the service says 401, so that a new key
// reaches running workers without a restart.

import { problem, errorMessage } from '../errors/error.ts';
import { secretIn } from './key-file.ts';
import { keepSecret } from '../errors/redact.ts';

export interface ApiKey {
  /** The key as last read. */
  readonly value: string;
  /** Where it came from, for messages: the name of a variable, or of a variable and its file. */
  readonly from: string;
  /** Reads the file again; true when the key changed. A file that holds no key at the moment leaves it as it was. */
  refresh(): boolean;
}

/** Throws E309 where no request could carry the key. */
export function keyFromEnvironment(value: string, variable: string): ApiKey {
  const key = usableKey(variable, () => value.trim());
  return { value: key, from: variable, refresh: () => false };
}

/** Throws E309 where the file cannot be read or no request could carry what it holds. */
export function keyFromFile(path: string, variable: string): ApiKey {
  const from = `${variable} (${path})`;
  const read = (): string => usableKey(from, () => secretIn(path));
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
        // It may be in the middle of being replaced; the service's own answer says what is wrong with the old one.
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

/** What an authorization header cannot carry, by its place: the key itself is not shown. */
function flawOf(key: string): string | undefined {
  if (key === '') return 'it is empty';
  const at = key.search(/[^\x21-\x7e]/);
  if (at < 0) return undefined;
  const place = `character ${at + 1}`;
  if (/[\r\n]/.test(key.charAt(at))) return `it has a line break in it, at ${place}`;
  return key.charAt(at) === ' ' ? `it has a space in it, at ${place}` : `${place} cannot stand in a key`;
}

/** What may be shown of a key. */
export const lastFour = (key: string): string => (key.length >= 12 ? `…${key.slice(-4)}` : '…');
