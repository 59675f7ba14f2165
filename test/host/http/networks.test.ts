import { lookup } from 'node:dns/promises';
import { describe, expect, it } from 'vitest';
import { openDownloads } from '../../../src/host/http/download.ts';
import { FileFault } from '../../../src/host/http/download-faults.ts';
import { guardFor, networkOf } from '../../../src/host/http/networks.ts';
import { serveForTest } from '../../stage/serve.ts';
import { whole } from '../../service-client/ranged-file.ts';

const HERE = 'http://127.0.0.1:1/api';
const ELSEWHERE = 'https://93.184.215.14/api';
const never = new AbortController().signal;

describe('an address of our own machine or network', () => {
  it.each([
    ['93.184.215.14', 'public'],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.0.9', 'loopback'],
    ['0.0.0.0', 'loopback'],
    ['::1', 'loopback'],
    ['::', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:93.184.215.14', 'public'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b::93.184.215.14', 'public'],
    ['64:ff9b:1::7f00:1', 'reserved'],
    ['::127.0.0.1', 'loopback'],
    ['::7f00:1', 'reserved'],
    ['2002:7f00:1::', 'reserved'],
    ['2001:0:7f00:1::', 'reserved'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['fd00::1', 'private'],
    ['fec0::1', 'reserved'],
    ['169.254.169.254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::a83f:8110', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.128.0.1', 'public'],
    ['224.0.0.1', 'reserved'],
    ['ff02::1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['203.0.113.9', 'reserved'],
    ['2001:db8::1', 'reserved'],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '127.1', '0', '[::ffff:127.0.0.1]', '[::1]'])(
    '%s is not asked for a file of a service elsewhere, whatever it is called',
    async (name) => {
      const { port, asked: requests } = await serveForTest((_, response) => void response.end('secret'));
      const refused = openDownloads(2)(`http://${name}:${port}/x`, { service: ELSEWHERE, signal: never });
      await expect(refused).rejects.toBeInstanceOf(FileFault);
      await expect(refused).rejects.toThrow('loopback');
      expect(requests).toEqual([]);
    },
  );

  it('is refused also after a redirect, and despite an open connection of another service', async () => {
    const inside = await serveForTest((_, response) => void response.end('secret'));
    const download = openDownloads(2);
    const outside = { service: ELSEWHERE, signal: never };
    const own = await download(inside.url, { service: HERE, signal: never });
    expect(String(await whole(own.chunks))).toBe('secret');
    await expect(download(inside.url, outside)).rejects.toBeInstanceOf(FileFault);
    await expect(download(`http://localhost:${inside.port}/`, outside)).rejects.toBeInstanceOf(FileFault);
    expect(inside.asked).toHaveLength(1);
  });

  it.each([
    ['http://10.0.0.5/api', '10.9.9.9', true],
    ['http://10.0.0.5/api', 'fd00::9', true],
    ['http://10.0.0.5/api', '127.0.0.1', false],
    ['http://127.0.0.1/api', '10.0.0.5', false],
    ['http://localhost:8080/api', '127.0.0.1', true],
    ['http://[::1]:8080/api', '127.0.0.1', true],
    ['http://100.64.0.1/api', '100.99.0.1', true],
    ['http://224.0.0.1/api', '224.0.0.1', false],
    [ELSEWHERE, '169.254.169.254', false],
    [ELSEWHERE, '93.184.215.15', true],
  ])('for a service at %s, %s is allowed: %s', async (base, address, isAdmitted) => {
    const host = address.includes(':') ? `[${address}]` : address;
    const admitted = guardFor(base).admit(new URL(`https://${host}/x`));
    expect(
      await admitted.then(
        () => true,
        (error: unknown) => !(error instanceof FileFault),
      ),
    ).toBe(isAdmitted);
  });

  it('is removed from the addresses of a host name', async () => {
    const results = (base: string, wantsAll: boolean) =>
      new Promise((done) => {
        guardFor(base).lookup('localhost', { all: wantsAll }, (error, addresses) => done(error ?? addresses));
      });
    const plain = await lookup('localhost', { all: true });
    expect(await results(ELSEWHERE, true)).toBeInstanceOf(FileFault);
    expect(await results(ELSEWHERE, false)).toBeInstanceOf(FileFault);
    expect(await results(HERE, true)).toEqual(plain);
    expect(await results(HERE, false)).toMatch(/^(127\.0\.0\.1|::1)$/);
  });
});
