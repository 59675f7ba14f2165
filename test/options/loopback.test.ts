import { expect, it } from 'vitest';
import { isLoopback, isLoopbackAddress } from '../../src/options/loopback.ts';

it.each(['localhost', '127.0.0.1', '127.255.0.2', '::1', '[::1]'])('%s is this machine', (host) => {
  expect([isLoopback(host), isLoopbackAddress(host.includes('::') ? '[::1]:80' : `${host}:80`)]).toEqual([
    true,
    true,
  ]);
});

it.each(['localhost.example', '127.0.0.1.example', '128.0.0.1', '0.0.0.0', '[::2]', 'a127.0.0.1', ''])(
  '"%s" is not',
  (host) => {
    expect([isLoopback(host), isLoopbackAddress(`${host}:80`)]).toEqual([false, false]);
  },
);
