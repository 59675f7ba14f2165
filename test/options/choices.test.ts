import { expect, it } from 'vitest';
import { EXPORT_FORMATS, OVERLAPS, PAIRED_BY } from '../../src/options/choices.ts';

const CHOICES: readonly (readonly string[])[] = [EXPORT_FORMATS, OVERLAPS, PAIRED_BY];

it('the choices of a flag are words that differ', () => {
  for (const words of CHOICES) {
    expect(new Set(words).size).toBe(words.length);
    expect(words.filter((word) => !/^[a-z]+$/.test(word))).toEqual([]);
  }
});
