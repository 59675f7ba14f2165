import { describe, expect, it } from 'vitest';
import { canReachReceiver } from '../../src/host/local-address.ts';

describe('a run service', () => {
  it.each([
    'local',
    'http://127.0.0.1:8080/api',
    'http://127.1/api',
    'http://localhost/api',
    'http://runs.localhost:1/api',
    'http://[::1]:1/api',
    'http://[::ffff:127.0.0.1]/api',
  ])('at %s reaches a receiver on this machine', (base) => {
    expect(canReachReceiver(base, undefined)).toBe(true);
  });

  it.each([
    'https://runs.example/api',
    'http://10.0.0.7/api',
    'http://192.168.1.4:8080/api',
    'http://host.docker.internal:8080/api',
    'http://127.0.0.1.example/api',
    'http://localhost.example/api',
    'http://[2001:db8::1]/api',
  ])('at %s reaches it only with a public address in the settings', (base) => {
    expect(canReachReceiver(base, undefined)).toBe(false);
    expect(canReachReceiver(base, 'https://hooks.example')).toBe(true);
  });
});
