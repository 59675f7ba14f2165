// The address of a GPU server, and the headers for its proxy.

import { errorMessage, problem } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import type { ServerRow } from '../database.ts';
import { isVendor, VENDOR_FACTS } from '../../options/facts/server-kind.ts';
import type { Backend } from './backend.ts';
import { openBackend, type Settings } from './open-backend.ts';

export type GivenServer = {
  readonly url: string;
  readonly kind?: ServerRow['kind'] | undefined;
  readonly headersFile?: string | null | undefined;
  /** The key itself, which is not stored. */
  readonly key?: string | undefined;
  readonly seats?: number | null | undefined;
};

export type OpenedServer = {
  readonly url: string;
  readonly backend: Backend;
  readonly settings: Settings;
};

/** Opens the seat of a GPU of this machine. */
export type OpenSeat = (gpu: string) => Backend;

/** The address of a GPU of this machine: `gpu:0`. */
const SEAT = /^gpu:(\d+)$/;
export const isSeat = (address: string): boolean => SEAT.test(address);

export function openServer(
  { url: address, kind = 'comfyui', headersFile, key, seats }: GivenServer,
  openSeat: OpenSeat = noSeat,
): OpenedServer {
  const [, gpu] = SEAT.exec(address) ?? [];
  if (gpu !== undefined)
    return { url: address, backend: openSeat(gpu), settings: { headers: {}, seats: undefined } };
  const url = addressOf(address);
  const file = headersFile ?? undefined;
  const own = key === undefined ? {} : keyHeaders(kind, keepSecret(key));
  const headers =
    file === undefined ? own : kind === 'comfyui' ? headersIn(file) : keyHeaders(kind, keyIn(file));
  const settings = { headers, seats: seats ?? undefined };
  const backend = openBackend(kind, url, settings);
  return { url, settings, backend };
}

const noSeat: OpenSeat = () => {
  throw new Error('a GPU of this machine is opened by the run service only');
};

/** Removes a trailing slash and refuses a password, which would be printed with the address. */
export function addressOf(address: string): string {
  if (isSeat(address)) return address;
  const { origin, pathname, username, password } = new URL(address);
  if (username !== '' || password !== '')
    throw problem('E602', {
      what: `the address of a GPU server has credentials`,
      hint: 'put "Authorization: Basic …" into a file, and name it with --comfyui-headers, or a key with --comfy-api-key-file',
    });
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Parses one `Name: value` per line. */
const headersIn = (file: string): Record<string, string> =>
  readFrom(file, (lines) =>
    Object.fromEntries(
      lines.map((line) => {
        const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(line) ?? [];
        if (name === undefined || value === undefined) throw new Error('a line is not "Name: value"');
        // In `Bearer abc`, the key is a secret by itself, because a text may contain it alone.
        const [, key] = /^\S+\s+(\S+)$/.exec(value) ?? [];
        if (key !== undefined) keepSecret(key);
        return [name.toLowerCase(), keepSecret(value)];
      }),
    ),
  );

/** A file with the key alone. */
const keyIn = (file: string): string =>
  readFrom(file, ([key = '', ...more]) => {
    if (!/^[!-~]+$/.test(key) || more.length > 0) throw new Error('it has something else than a key');
    return keepSecret(key);
  });

/** A Comfy API reads its key from either of two headers. */
function keyHeaders(kind: ServerRow['kind'], key: string): Record<string, string> {
  if (isVendor(kind)) return { authorization: keepSecret(`${VENDOR_FACTS[kind].scheme} ${key}`) };
  return { authorization: keepSecret(`Bearer ${key}`), 'x-api-key': key };
}

function readFrom<T>(file: string, read: (lines: readonly string[]) => T): T {
  try {
    return read(
      readPlainFile(file)
        .text.split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    );
  } catch (error) {
    throw problem(
      'E602',
      {
        what: `the headers in ${file} cannot be read: ${errorMessage(error)}`,
        hint: 'one header a line, "Name: value", or the key of a Comfy API alone',
      },
      { cause: error },
    );
  }
}
