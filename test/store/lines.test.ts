import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/store/lines.ts';

const linesIn = async (...chunks: readonly Uint8Array[]): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(chunks))) lines.push(line);
  return lines;
};

describe('the lines of a file', () => {
  it.each(['\u2028', '\u2029', '\u0085', '\r', '\v'])('end at line feeds only, not at %j', async (sign) => {
    expect(await linesIn(Buffer.from(`a${sign}b\nc`))).toEqual([`a${sign}b`, 'c']);
  });

  it('are the same wherever the bytes are cut', async () => {
    const bytes = Buffer.from('fünf\n\n😀 zwölf\n');
    for (let at = 0; at <= bytes.length; at += 1)
      expect(await linesIn(bytes.subarray(0, at), bytes.subarray(at))).toEqual(['fünf', '', '😀 zwölf']);
  });

  it('are none in an empty file', async () => {
    expect(await linesIn()).toEqual([]);
  });
});
