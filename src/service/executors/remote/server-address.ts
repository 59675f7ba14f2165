// The address of a GPU server, and the headers that its proxy wants.

import { readFileSync } from 'node:fs';
import { errorMessage, problem } from '../../../errors/error.ts';
import { keepSecret } from '../../../errors/redact.ts';
import type { Backend } from './backend.ts';
import { openComfyui } from './comfyui.ts';

export type GivenServer = { readonly url: string; readonly headersFile?: string | null | undefined };

export function openServer({ url: given, headersFile }: GivenServer): {
  readonly url: string;
  readonly backend: Backend;
  readonly headers: Record<string, string>;
} {
  const url = addressOf(given);
  const headers = headersFile == null ? {} : headersIn(headersFile);
  return { url, headers, backend: openComfyui({ url, headers }) };
}

/** Without a trailing slash; a password in it would be printed with it. */
export function addressOf(given: string): string {
  const { origin, pathname, username, password } = new URL(given);
  if (username !== '' || password !== '')
    throw problem('E602', {
      what: `the address of a GPU server has credentials`,
      hint: 'put "Authorization: Basic …" into a file, and name it with --comfyui-headers',
    });
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** `Name: value`, a line each. */
function headersIn(file: string): Record<string, string> {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    return Object.fromEntries(
      lines.map((line) => {
        const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(line) ?? [];
        if (name === undefined || value === undefined) throw new Error('a line is not "Name: value"');
        // `Bearer abc`: a text may contain the key alone.
        const [, key] = /^\S+\s+(\S+)$/.exec(value) ?? [];
        if (key !== undefined) keepSecret(key);
        return [name.toLowerCase(), keepSecret(value)];
      }),
    );
  } catch (error) {
    throw problem(
      'E602',
      {
        what: `the headers in ${file} cannot be read: ${errorMessage(error)}`,
        hint: 'one header a line: "Name: value"',
      },
      { cause: error },
    );
  }
}
