import { describe, expect, it } from 'vitest';
import { isAddressedHere } from '../../src/host/bounded-server.ts';

describe('a request to a server on loopback', () => {
  it.each(['127.0.0.1:80', 'localhost:8233', '[::1]:1', 'localhost'])('is taken for the host %s', (host) => {
    expect(isAddressedHere({ headers: { host } })).toBe(true);
    expect(isAddressedHere({ headers: { host, origin: `http://${host}` } })).toBe(true);
    for (const origin of ['http://evil.example', 'null', `https://${host}`, `http://${host}0`])
      expect(isAddressedHere({ headers: { host, origin } })).toBe(false);
  });

  it.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'evil.localhost:80',
    '127.0.0.2',
    '',
    'localhost:80@evil',
  ])('is refused for the host "%s"', (host) => expect(isAddressedHere({ headers: { host } })).toBe(false));

  it('is refused without a host', () => {
    expect(isAddressedHere({ headers: {} })).toBe(false);
  });
});
