// The API key, from the environment or from a file. A file is read again when the service says 401, so that a new key
// reaches running workers without a restart.

import { readFileSync } from 'node:fs';
import { keepSecret } from '../secrets.ts';

export interface ApiKey {
  /** The key as last read. */
  readonly value: string;
  /** Where it came from, for messages: the name of a variable, or of a variable and its file. */
  readonly from: string;
  /** Reads the file again; true when the key changed. */
  refresh(): boolean;
}

export const keyFromEnvironment = (value: string, variable: string): ApiKey => ({
  value: keepSecret(value),
  from: variable,
  refresh: () => false,
});

/** Throws where the file cannot be read. */
export function keyFromFile(path: string, variable: string): ApiKey {
  const read = (): string => keepSecret(readFileSync(path, 'utf8').trim());
  let value = read();
  return {
    get value() {
      return value;
    },
    from: `${variable} (${path})`,
    refresh: () => {
      const before = value;
      value = read();
      return value !== before;
    },
  };
}

/** What may be shown of a key. */
export const lastFour = (key: string): string => (key.length >= 12 ? `…${key.slice(-4)}` : '…');
