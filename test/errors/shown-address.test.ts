// The form in which messages show an address that a user typed, and the texts that count as addresses.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddress, secretsIn, shownAddress } from '../../src/errors/redact.ts';

const SHOWN: readonly (readonly [string, string])[] = [
  ['https://example.org/hens.csv', 'https://example.org/hens.csv'],
  ['https://example.org:8443/hens.csv?X-Amz-Signature=zebra', 'https://example.org:8443/hens.csv'],
  ['https://anna:zebra@example.org/hens.csv', 'https://example.org/hens.csv'],
  ['https://anna:ze@bra@example.org/hens.csv', 'https://example.org/hens.csv'],
  ['https://anna:zebra#stripe@127.0.0.1:9/x.csv', 'https://…'],
  ['https://anna:zebra?stripe@127.0.0.1:9/x.csv', 'https://…'],
  ['https://anna:zebra/stripe@127.0.0.1:9/x.csv', 'https://…'],
  ['https://anna:12/zebra@127.0.0.1:9/x.csv', 'https://…'],
  ['https://anna:12#zebra@127.0.0.1:9/x.csv', 'https://…'],
  ['https://anna:zebra', 'https://…'],
  ['https:///anna:zebra@example.org/x.csv', 'https://…'],
  ['https:127.0.0.1/x.csv?X-Amz-Signature=zebra', 'https:127.0.0.1/x.csv'],
  ['https:/anna:zebra@127.0.0.1/x.csv', 'https:/127.0.0.1/x.csv'],
  ['HTTP:anna:zebra@127.0.0.1/x.csv', 'HTTP:127.0.0.1/x.csv'],
  [' \thttps://anna:zebra@example.org/x.csv?zebra', 'https://example.org/x.csv'],
  ['s3://anna:ze?bra@bucket/x.csv', 's3://…'],
  ['s3:anna:zebra@bucket/x.csv', 's3:bucket/x.csv'],
  ['ftp://anna:zebra@example.org/x.csv', 'ftp://example.org/x.csv'],
];

describe('of an address, a message', () => {
  it.each(SHOWN)('shows of %j only %j', (address, shown) => {
    expect(shownAddress(address)).toBe(shown);
    expect(shown).not.toMatch(/zebra|stripe/);
  });

  it('shows no part of a password or a query, whatever stands in them', () => {
    // Characters that the other parts have not.
    const secret = fc.string({
      unit: fc.constantFrom('Z', '7', '@', ':', '/', '?', '#', '\\', ' ', '%', '&'),
      minLength: 1,
    });
    const start = fc.constantFrom('https://', 'http:', 'https:/', 's3://', ' file://', 'https:///');
    const holds = fc.property(start, secret, secret, (scheme, password, query) => {
      const shown = shownAddress(`${scheme}anna:${password}@example.org/x.csv?${query}`);
      return !/[Z7]/.test(shown);
    });
    expect(fc.check(holds, { numRuns: 2000 })).toMatchObject({ failed: false });
  });

  it.each([
    'hens.csv',
    './https:x.csv',
    'C:\\hens\\x.csv',
    'c://hens/x.csv',
    'a@b?c#d.csv',
    '-',
    'https.csv',
  ])('shows the path %j as it is', (path) => {
    expect([isAddress(path), shownAddress(path), secretsIn(path)]).toEqual([false, path, []]);
  });
});

describe('the secrets of an address', () => {
  it.each([
    ['https://anna:zebra-stripe@example.org/x.csv?sign=ature', ['zebra-stripe', 'sign=ature']],
    ['https://anna:zebra#stripe@example.org/x.csv', ['zebra#stripe']],
    ['https://anna:12/zebra?stripe@example.org/x.csv', ['12/zebra?stripe']],
    [' https:example.org/x.csv?sign=ature', ['sign=ature']],
  ])('%j are known: %j', (address, secrets) => {
    expect(secretsIn(address)).toEqual(expect.arrayContaining(secrets));
  });

  it('do not contain its host', () => {
    expect(secretsIn('https://localhost:8080/x.csv?mail=me@example.org')).not.toContain('localhost');
  });
});
