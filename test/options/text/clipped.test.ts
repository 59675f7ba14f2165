import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped, clippedAtWord, jsonBytes } from '../../../src/options/text/clipped.ts';

/** Any text at all: quotes, control characters, halves of surrogate pairs. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
  fc
    .array(fc.constantFrom('"', '\\', '\n', '\u0000', 'é', '€', '😀', '\ud800', 'a'))
    .map((list) => list.join('')),
);

const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

describe('jsonBytes', () => {
  it('the bytes of a text in JSON are never fewer than JSON takes for it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(jsonBytes(text)).toBeGreaterThanOrEqual(encodedBytes(text));
      }),
    );
  });

  it('the bytes of a text in JSON are exactly what JSON takes for a text without control characters', () => {
    fc.assert(
      fc.property(
        anyText.map((text) =>
          Array.from(text)
            .filter((character) => character >= ' ')
            .join(''),
        ),
        (text) => {
          expect(jsonBytes(text)).toBe(encodedBytes(text));
        },
      ),
    );
  });
});

describe('jsonBytes at the first and last character of each length', () => {
  it.each([0, 0x1f, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdfff, 0xe000, 0xffff, 0x10000, 0x10ffff])(
    'the bytes of the character %i are exactly what JSON takes for it',
    (code) => {
      const character = String.fromCodePoint(code);
      expect(jsonBytes(character)).toBe(encodedBytes(character));
    },
  );
});

describe('clipped', () => {
  it('a clipped text is the longest beginning that fits, and ends with a whole character', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, most) => {
        const short = clipped(text, most);
        expect(text.startsWith(short)).toBe(true);
        expect(jsonBytes(short)).toBeLessThanOrEqual(most);
        const [next = ''] = text.slice(short.length);
        expect(next === '' || jsonBytes(short + next) > most).toBe(true);
        const characters = Array.from(short);
        expect(characters).toEqual(Array.from(text).slice(0, characters.length));
      }),
    );
  });

  it('a clipped text is the whole text where it fits', () => {
    expect(clipped('ré€😀"', 100)).toBe('ré€😀"');
    expect(clipped('ré€😀"', 6)).toBe('ré€');
  });
});

describe('a text that is cut between two words', () => {
  it('never ends with half a number, and says that something is missing', () => {
    const text = 'torch.OutOfMemoryError: CUDA out of memory: the run needs 125.5 GB';
    expect(clippedAtWord(text, 60)).toBe('torch.OutOfMemoryError: CUDA out of memory: the run…');
    expect(clippedAtWord(text, 100)).toBe(text);
    expect(clippedAtWord('x'.repeat(80), 60)).toBe(`${'x'.repeat(57)}…`);
  });
});
