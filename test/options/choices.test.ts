import { expect, it } from 'vitest';
import { EXPORT_FORMATS, OVERLAPS, PAIRED_BY } from '../../src/options/choices.ts';

it.each([EXPORT_FORMATS, OVERLAPS, PAIRED_BY])(
  'the choices of a flag are words that differ: %s',
  (...words) => {
    expect(new Set(words).size).toBe(words.length);
    expect(words.every((word) => /^[a-z]+$/.test(word))).toBe(true);
  },
);
