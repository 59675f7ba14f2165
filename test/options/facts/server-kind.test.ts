import { expect, it } from 'vitest';
import {
  isModelHost,
  isVendor,
  SERVER_KINDS,
  VENDOR_FACTS,
  VENDORS,
} from '../../../src/options/facts/server-kind.ts';

it('a vendor is a kind of server with an address of its own; a ComfyUI and a GPU of this machine are none', () => {
  expect(SERVER_KINDS.filter(isVendor)).toEqual([...VENDORS]);
  expect(['comfyui', 'comfy-api', 'gpu', 'huggingface', ''].filter(isVendor)).toEqual([]);
  const urls = VENDORS.map((vendor) => VENDOR_FACTS[vendor].url);
  expect(urls.every((url) => url.startsWith('https://'))).toBe(true);
  expect(new Set(urls).size).toBe(VENDORS.length);
});

it('a host of models is a vendor or a Cog container', () => {
  expect(SERVER_KINDS.filter(isModelHost)).toEqual([...VENDORS, 'cog']);
});
