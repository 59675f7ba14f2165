// The addresses that a service opens through the meaning of its name, over all sets of addresses.

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { takeProxies } from '../../../src/host/settings/proxies.ts';
import { guardFor, networkOf, type NetworkGuard, type Resolve } from '../../../src/host/http/networks.ts';
import { openFileTransport, openTransport } from '../../../src/host/http/transport.ts';
import { request } from 'undici';
import { serveForTest } from '../../stage/serve.ts';

const METADATA = [
  '169.254.169.254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
];

const v4 = fc.oneof(
  fc.ipV4(),
  fc.constantFrom(
    '127.0.0.1',
    '10.0.0.5',
    '10.9.9.9',
    '192.168.1.1',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '8.8.8.8',
  ),
);
const address = fc.oneof(
  v4,
  v4.map((ip) => `::ffff:${ip}`),
  v4.map((ip) => `64:ff9b::${ip}`),
  fc.ipV6(),
  fc.constantFrom('::1', 'fd00::1', 'fe80::1', '2606:4700::1111', ...METADATA),
);
const addresses = fc.array(address, { minLength: 1, maxLength: 4 });

const lookupAddresses = (addressTexts: readonly string[]): readonly LookupAddress[] =>
  addressTexts.map((ip) => ({ address: ip, family: isIP(ip) }));

let names = 0;
/** A guard for a service whose new name means these addresses, one set after the other. */
function guarded(
  ...answers: readonly (readonly string[])[]
): NetworkGuard & { readonly asked: () => number } {
  names += 1;
  let lookups = 0;
  const resolve: Resolve = async () =>
    lookupAddresses(answers[Math.min(lookups++, answers.length - 1)] ?? []);
  return {
    ...guardFor(`https://service-${names}.example/api`, 'the address', resolve),
    asked: () => lookups,
  };
}

const opens = (guard: NetworkGuard, host: string): Promise<boolean> =>
  guard.addressesOf(host).then(
    () => true,
    () => false,
  );

describe('a service with a name', () => {
  it('opens a network of ours only if all its addresses are in it', async () => {
    const holds = fc.asyncProperty(addresses, address, async (service, target) => {
      const network = networkOf(target);
      const isOpen = await opens(guarded(service), target);
      return network === 'public' ? isOpen : !isOpen || service.every((ip) => networkOf(ip) === network);
    });
    expect(await fc.check(holds)).toMatchObject({ failed: false });
  });

  it('opens nothing by adding an address, and never one of metadata, link-local or reserved', async () => {
    const holds = fc.asyncProperty(addresses, address, address, async (service, added, target) => {
      if (!(await opens(guarded([...service, added]), target))) return true;
      const isClosed = /metadata|link-local|reserved/.test(networkOf(target));
      return !isClosed && (await opens(guarded(service), target));
    });
    expect(await fc.check(holds)).toMatchObject({ failed: false });
  });

  it('is asked for its addresses once, so that it cannot name others later', async () => {
    const guard = guarded(['93.184.215.14'], ['10.0.0.1']);
    expect(await opens(guard, '10.0.0.1')).toBe(false);
    expect(await opens(guard, '10.0.0.1')).toBe(false);
    expect(guard.asked()).toBe(1);
  });

  it.each([['10.0.0.1'], ['127.0.0.1'], ['::1'], ['fd00::7']])('at %s opens it', async (ip) => {
    expect(await opens(guarded([ip]), ip)).toBe(true);
  });

  it('is where the connections of our own calls found it', async () => {
    const { port, url } = await serveForTest((_, response) => void response.end('yes'));
    const base = `http://localhost:${port}/api`;
    const dispatcher = openTransport(1);
    await (await request(base, { dispatcher })).body.dump();
    const localAddresses = await lookup('localhost', { all: true });
    const liar = guardFor(base, 'the address', async () => lookupAddresses(['10.0.0.1']));
    expect(await opens(liar, '10.0.0.2')).toBe(false);
    expect(await opens(liar, new URL(url).hostname)).toBe(
      localAddresses.every((record) => networkOf(record.address) === 'loopback'),
    );
    await dispatcher.close();
  });
});

describe('a service behind a proxy', () => {
  afterEach(() => void takeProxies({}));

  it('opens no address of this machine, because the proxy may find its name elsewhere', async () => {
    takeProxies({ https_proxy: 'http://proxy.example:3128' });
    for (const ip of ['127.0.0.1', '::1']) expect(await opens(guarded([ip]), ip)).toBe(false);
    // An address of this machine in a form that a proxy is asked for.
    expect(await opens(guardFor('https://[64:ff9b::7f00:1]/api'), '127.0.0.1')).toBe(false);
    expect(await opens(guarded(['10.0.0.1']), '10.0.0.1')).toBe(true);
    takeProxies({ https_proxy: 'http://proxy.example:3128', no_proxy: '.example' });
    expect(await opens(guarded(['127.0.0.1']), '127.0.0.1')).toBe(true);
  });
});

describe('an address of metadata', () => {
  it.each(METADATA)(
    '%s is refused for every service but the one that the user gave as this address',
    async (ip) => {
      const host = ip.includes(':') ? `[${ip}]` : ip;
      expect(networkOf(ip)).toBe('metadata');
      expect(await opens(guarded([ip]), ip)).toBe(false);
      expect(await opens(guardFor('http://169.254.1.1/api'), ip)).toBe(false);
      expect(await opens(guardFor('http://10.0.0.1/api'), ip)).toBe(false);
      expect(await opens(guardFor(`http://${host}/api`), ip)).toBe(true);
    },
  );
});

describe('a connection', () => {
  it('goes to the address that was checked, and a name that means another one then is checked again', async () => {
    const inside = await serveForTest(
      (_, response) => void response.setHeader('connection', 'close').end('file'),
    );
    const answers = ['127.0.0.1', '169.254.169.254', '127.0.0.1'];
    let lookups = 0;
    const guard = guardFor('http://127.0.0.1/api', 'the address', async () =>
      lookupAddresses([answers[lookups++] ?? '']),
    );
    const dispatcher = openFileTransport(1, guard.lookup, { headersMs: 5000, idleMs: 5000 });
    const url = `http://rebound.example:${inside.port}/`;
    const answer = await request(url, { dispatcher });
    expect([await answer.body.text(), lookups]).toEqual(['file', 1]);
    await expect(request(url, { dispatcher })).rejects.toThrow('a metadata address');
    expect([inside.asked.length, lookups]).toEqual([1, 2]);
    await dispatcher.destroy();
  });

  it('goes to the allowed ones of several addresses only', async () => {
    await fc.assert(
      fc.asyncProperty(addresses, async (mixed) => {
        const guard = guardFor('https://93.184.215.14/api', 'the address', async () =>
          lookupAddresses(mixed),
        );
        const allowed = await guard.addressesOf('mixed.example').catch(() => []);
        expect(allowed.map((record) => record.address)).toEqual(
          mixed.filter((lookups) => networkOf(lookups) === 'public'),
        );
      }),
    );
  });
});
