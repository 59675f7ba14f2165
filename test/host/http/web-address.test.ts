import { expect, it } from 'vitest';
import { isWebAddress } from '../../../src/host/http/web-address.ts';

it.each(['http://a.example', 'HTTPS://a.example/fox.png?x=1#y', 'http://[::1]:80/', 'http://../etc'])(
  'the text %s is an http address',
  (text) => expect(isWebAddress(text)).toBe(true),
);

it.each([
  'http:/../../etc/passwd',
  'http:../../etc/passwd',
  'http:///etc/passwd',
  String.raw`http:\\a.example`,
  String.raw`http://\a.example`,
  'http://',
  'http://a b/',
  'http://?x',
  ' http://a.example',
  'ftp://a.example',
  'file:///etc/passwd',
  '',
])('the text "%s" is no http address', (text) => expect(isWebAddress(text)).toBe(false));
