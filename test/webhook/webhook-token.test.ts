import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isGenuine,
  isOldToken,
  isSameAttempt,
  readToken,
  webhookUrl,
} from '../../src/webhook/webhook-token.ts';

const SECRET = 'a secret';
const MARK = '0123456789abcdef';
const token = { batch: 'portraits-0123456789ab', mark: MARK, place: 4_181, attempt: 2 };

describe('a token', () => {
  it('is read back from its webhook address, whatever the name of the batch', () => {
    const names = fc.record({
      batch: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/),
      mark: fc.stringMatching(/^[0-9a-f]{16}$/),
      place: fc.integer({ min: 1, max: 1_000_000 }),
      attempt: fc.integer({ min: 1, max: 99 }),
    });
    fc.assert(
      fc.property(names, fc.constantFrom('https://hooks.example', undefined), (name, receiver) => {
        const read = readToken(webhookUrl(name, SECRET, receiver));
        expect(read).toMatchObject(name);
        expect(read && isGenuine(read, SECRET)).toBe(true);
      }),
    );
  });

  it('is genuine only with the secret that signed it', () => {
    const read = readToken(webhookUrl(token, SECRET, undefined));
    expect(read && isGenuine(read, 'another')).toBe(false);
  });

  it.each([
    ['place', { place: 4_182 }],
    ['attempt', { attempt: 3 }],
    ['batch', { batch: 'other' }],
    ['birth mark', { mark: 'fedcba9876543210' }],
  ])('names another attempt if its %s differs, and its MAC is then invalid', (_, change) => {
    const altered = { ...token, ...change };
    expect(isSameAttempt(token, altered)).toBe(false);
    const mac = readToken(webhookUrl(token, SECRET, undefined))?.mac ?? '';
    expect(isGenuine({ ...altered, mac }, SECRET)).toBe(false);
  });

  it('of an earlier version is recognised', () => {
    expect(isOldToken(`/hook/1/b/1/1/${'0'.repeat(32)}`)).toBe(true);
    expect(isOldToken(webhookUrl(token, SECRET, undefined))).toBe(false);
  });

  it('is not read from an address without one', () => {
    for (const url of [
      undefined,
      '',
      '/hook/2/b/1/1/00',
      `/hook/2/b/${MARK}/1/1/00`,
      `/hook/2/b/short/1/1/${'0'.repeat(32)}`,
      `http://x/hook/2/b/${MARK}/0x1/1/`,
      `/hook/2/b/${MARK}/1/1/${'0'.repeat(33)}`,
      `/hook/1/b/1/1/${'0'.repeat(32)}`,
    ])
      expect(readToken(url)).toBeUndefined();
  });

  it('has a host that cannot exist if there is no receiver', () => {
    expect(new URL(webhookUrl(token, SECRET, undefined)).host).toBe('runsheet.invalid');
  });
});
