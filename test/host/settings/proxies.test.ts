import { afterAll, describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/errors/redact.ts';
import { proxyFor, takeProxies, tunnelFor } from '../../../src/host/settings/proxies.ts';

afterAll(() => void takeProxies({}));

const BOTH = { http_proxy: 'http://plain.example:3128', https_proxy: 'http://tls.example:3128' };
const through = (environment: Record<string, string>, address: string): string | undefined => {
  takeProxies(environment);
  return proxyFor(new URL(address))?.url;
};

describe('the proxy of an address', () => {
  it.each([
    'http://localhost:7233',
    'http://service.localhost',
    'https://127.0.0.1:1',
    'http://127.8.9.10',
    'http://[::1]:80',
    'http://[::ffff:127.0.0.1]:80',
    'http://0.0.0.0:80',
    'http://localhost.',
  ])('%s is this machine and reached directly', (address) => {
    expect(through(BOTH, address)).toBeUndefined();
  });

  it.each([
    ['http://files.example/a', BOTH, 'http://plain.example:3128'],
    ['https://files.example/a', BOTH, 'http://tls.example:3128'],
    ['http://10.1.2.3', BOTH, 'http://plain.example:3128'],
    ['http://localhost.example', BOTH, 'http://plain.example:3128'],
    ['https://files.example', { HTTPS_PROXY: 'https://tls.example' }, 'https://tls.example'],
    ['http://files.example', { HTTP_PROXY: 'plain.example:3128' }, 'http://plain.example:3128'],
    [
      'http://files.example',
      { HTTP_PROXY: 'big.example', http_proxy: 'small.example' },
      'http://small.example',
    ],
    ['https://files.example', { http_proxy: 'http://plain.example:3128' }, undefined],
    ['https://files.example', { https_proxy: ' ' }, undefined],
    ['https://files.example', {}, undefined],
  ])('%s with %o is reached through %s', (address, environment, proxy) => {
    expect(through(environment, address)).toBe(proxy);
  });

  it.each([
    ['example.org', 'https://example.org', true],
    ['example.org', 'https://files.example.org', true],
    ['.example.org', 'https://example.org', true],
    ['*.example.org', 'https://example.org', false],
    ['*.example.org', 'https://files.example.org', true],
    ['example.org', 'https://otherexample.org', false],
    ['EXAMPLE.org, other.org', 'https://files.Example.ORG.', true],
    ['a.org other.org', 'https://other.org', true],
    ['example.org:8443', 'https://example.org:8443', true],
    ['example.org:8443', 'https://example.org', false],
    ['example.org:443', 'https://example.org', true],
    ['10.0.0.0/8', 'http://10.9.8.7', true],
    ['10.0.0.0/8', 'http://11.9.8.7', false],
    ['10.0.0.0/8', 'http://10.example.org', false],
    ['10.0.0.7', 'http://10.0.0.7', true],
    ['10.0.0.0/99', 'http://10.0.0.7', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['[fd12::1]:80', 'http://[fd12::1]', true],
    ['*', 'https://example.org', true],
  ])('no_proxy=%s excepts %s: %s', (text, address, isExcepted) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(through({ ...BOTH, [name]: text }, address) === undefined).toBe(isExcepted);
  });

  it('of gRPC is that of https, otherwise that of http', () => {
    takeProxies({ ...BOTH, no_proxy: '.inside.example' });
    expect(tunnelFor('temporal.example:7233')?.url).toBe('http://tls.example:3128');
    expect(tunnelFor('temporal.inside.example:7233')).toBeUndefined();
    expect(tunnelFor('127.0.0.1:7233')).toBeUndefined();
    expect(tunnelFor('localhost:7233')).toBeUndefined();
    takeProxies({ http_proxy: BOTH.http_proxy });
    expect(tunnelFor('temporal.example:7233')?.url).toBe('http://plain.example:3128');
  });

  it('that runsheet cannot use is an error only for what needs it, and shows no password', () => {
    for (const [value, wrong] of [
      ['socks5://user:a-password-of-socks@socks.example:1080', /E602|speaks socks5/],
      ['http://user:a-password-of-socks@:x', /is no address/],
    ] as const) {
      takeProxies({ http_proxy: value });
      expect(proxyFor(new URL('http://localhost'))).toBeUndefined();
      expect(proxyFor(new URL('https://files.example'))).toBeUndefined();
      expect(() => proxyFor(new URL('http://files.example'))).toThrow(wrong);
      expect(withoutSecrets(value)).not.toContain('a-password-of-socks');
    }
  });

  it('has a login whose password is a secret, also where it is encoded', () => {
    takeProxies({ https_proxy: 'http://hen:corn%40the%2Ffarm@tls.example:3128' });
    expect(proxyFor(new URL('https://files.example'))).toEqual({
      url: 'http://tls.example:3128',
      login: { user: 'hen', password: 'corn@the/farm' },
      from: 'https_proxy',
    });
    const basic = Buffer.from('hen:corn@the/farm').toString('base64');
    const shown = withoutSecrets(`corn@the/farm corn%40the%2Ffarm ${basic}`);
    expect(shown).not.toMatch(/corn/);
    expect(shown).not.toContain(basic);
  });
});
