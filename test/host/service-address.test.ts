import { expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { identityOf, isSameService, spellingsOf } from '../../src/host/service-address.ts';

it.each([
  ['HTTPS://GPU.Example/api', 'https://gpu.example/api'],
  ['https://gpu.example:443/api/', 'https://gpu.example/api'],
  ['https://gpu.example/x/../api//', 'https://gpu.example/api'],
  ['https://gpu.example./API/./', 'https://gpu.example/API'],
  ['http://LOCALHOST:80/api', 'http://localhost/api'],
])('the service at %s is the one at %s', (address, plain) => {
  expect(loadConfig({ RUNSHEET_API_URL: address }).apiUrl).toBe(plain);
  expect(isSameService({ base: address }, { base: plain })).toBe(true);
});

it('this machine is one machine, whatever it is called', () => {
  const names = ['localhost', 'LOCALHOST.', '127.0.0.1', '[::1]', '0.0.0.0', '[::ffff:127.0.0.1]', '127.1'];
  const identities = names.map((name) => identityOf(`http://${name}:8188/api`));
  expect(new Set(identities)).toEqual(new Set(['http://127.0.0.1:8188/api']));
  expect(spellingsOf('http://localhost:8188/api')).toContain('http://[::1]:8188/api');
});

it('other ports, paths, protocols and hosts are other services', () => {
  const base = 'http://gpu.example/api';
  const otherAddresses = [
    'http://gpu.example:81/api',
    'http://gpu.example/API',
    'https://gpu.example/api',
    'local',
  ];
  for (const address of otherAddresses)
    expect([address, isSameService({ base }, { base: address })]).toEqual([address, false]);
  expect(spellingsOf(base)).toEqual([base]);
});

it('a service that calls itself the same at two addresses is one', () => {
  const [first, second] = [
    { base: 'http://a/api', id: 'x' },
    { base: 'http://b/api', id: 'x' },
  ];
  expect(isSameService(first, second)).toBe(true);
  expect(isSameService(first, { base: 'http://b/api', id: 'y' })).toBe(false);
  expect(isSameService({ base: 'http://a/api' }, { base: 'http://b/api' })).toBe(false);
});

it('the key of a service is found for a batch that was made under another spelling of its address', () => {
  const settings = { RUNSHEET_API_URL: 'http://127.0.0.1:8188/api', RUNSHEET_API_KEY: 'a-key-of-the-test' };
  const { apiKey } = loadConfig(settings);
  for (const base of ['http://LOCALHOST:8188/x/../api', 'http://127.0.0.1:8188/api/'])
    expect(apiKey(base)?.value).toBe('a-key-of-the-test');
  for (const base of ['http://127.0.0.1:8189/api', 'http://gpu.example:8188/api'])
    expect(apiKey(base)).toBeUndefined();
});
