import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/store/pieces.ts';

const linesIn = async (...chunks: readonly Uint8Array[]): Promise<readonly string[]> => {
  const lines: string[] = [];
  const store = { location: 's3://nightly/hens', open: () => Readable.from(chunks) };
  for await (const line of linesOf(store, 'copies.jsonl')) lines.push(line);
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

  it('are refused if one of them does not end', async () => {
    let sent = 0;
    const open = () =>
      Readable.from(
        (function* () {
          for (; sent < 200; sent += 1) yield Buffer.alloc(1 << 20, 'x');
        })(),
      );
    const lines = linesOf({ location: 's3://nightly/hens', open }, 'copies.jsonl');
    await expect(lines.next()).rejects.toMatchObject({
      code: 'E504',
      message: 's3://nightly/hens/copies.jsonl has a line of more than 64 MiB',
    });
    expect(sent).toBeLessThan(100);
  });

  it('are none in an empty file', async () => {
    expect(await linesIn()).toEqual([]);
  });
});
