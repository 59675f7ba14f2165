import { expect, it } from 'vitest';
import { mayRehearse } from '../../src/host/local-address.ts';

it.each([
  ['local', true],
  ['http://127.0.0.1:4000/api', true],
  ['http://localhost:4000/api', true],
  ['http://[::1]:4000/api', true],
  ['https://localhost.example/api', false],
  ['https://runs.example/api', false],
  ['http://10.0.0.1/api', false],
])('the service at %s may call its runs a rehearsal: %s', (base, expected) =>
  expect(mayRehearse(base)).toBe(expected),
);
