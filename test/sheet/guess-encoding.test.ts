// The encoding of a CSV, however its bytes arrive.

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { guessedEncoding } from '../../src/sheet/guesses/guess-encoding.ts';
import type { SheetSource } from '../../src/sheet/sheet-source.ts';
import { PLAIN } from './laying.ts';

/** A sheet whose bytes arrive in pieces of `size`. */
const inPieces = (bytes: Uint8Array, size: number): SheetSource => ({
  name: 'a.csv',
  open: () =>
    Readable.from(
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      ),
    ),
});

/** The same for pieces of 1 to 9 bytes. */
async function encodingOf(bytes: Uint8Array): Promise<string> {
  const textSet = new Set<string>();
  for (let size = 1; size < 10; size += 1) {
    const { options } = await guessedEncoding(inPieces(bytes, size), PLAIN);
    textSet.add(options.encoding ?? 'utf-8');
  }
  return [...textSet].join(' or ');
}

describe('the encoding of a sheet', () => {
  const text = Buffer.from('prompt\nÄpfel, 日本, 🦊, é\n');

  it('is UTF-8 if all bytes are, also if characters arrive in pieces', async () => {
    expect(await encodingOf(text)).toBe('utf-8');
    expect(await encodingOf(Buffer.from('🦊🦊🦊日本ÄÄ'))).toBe('utf-8');
  });

  it('is another one if one byte anywhere is not UTF-8', async () => {
    const plain = Buffer.from('prompt\na fox\n');
    expect(await encodingOf(Buffer.concat([plain, Buffer.from('größer', 'latin1')]))).toBe('windows-1252');
    expect(await encodingOf(Buffer.from('so \xe0', 'latin1'))).toBe('windows-1252');
  });

  it.each(['ab\xc3', 'ab\xe4\xbd', 'abcdefgh\xc0\xaf', 'a\x90b\xffc\x81'])(
    'is none for certain if bytes are no words: %j',
    async (bytes) => {
      await expect(
        encodingOf(Buffer.concat([Buffer.from('a\n'), Buffer.from(bytes, 'latin1')])),
      ).rejects.toMatchObject({
        code: 'E102',
        message: expect.stringMatching(/^a\.csv is not UTF-8/) as string,
      });
    },
  );
});
