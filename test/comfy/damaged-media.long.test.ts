// A picture or film made to fill the memory or take the processor is read within bounds of both.

import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { textsInMedia } from '../../src/host/formats/texts-in-media.ts';
import { growthOf } from '../stage/growth.ts';
import { pngWithInternational } from './media-files.ts';

/** A PNG with this many compressed texts that are too long or damaged, before its own. */
function pngBehind(bombs: number, bomb: Buffer, isCompressed: boolean): Buffer {
  const content = pngWithInternational({ prompt: '{}' }, isCompressed);
  const at = content.indexOf('iTXt') - 4;
  const data = Buffer.concat([Buffer.from('prompt\0\u0001\0\0\0', 'latin1'), bomb]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const chunk = Buffer.concat([size, Buffer.from('iTXt'), data, Buffer.alloc(4)]);
  return Buffer.concat([
    content.subarray(0, at),
    ...Array.from({ length: bombs }, () => chunk),
    content.subarray(at),
  ]);
}

const deflatedSpaces = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes, ' '));
/** Breaks the checksum, which shows only once all of the data is inflated. */
const damaged = (deflated: Buffer): Buffer => Buffer.concat([deflated.subarray(0, -4), Buffer.alloc(4)]);

it('texts that would fill the memory are not inflated', () => {
  const before = process.memoryUsage().rss;
  expect(textsInMedia(pngBehind(40, deflatedSpaces(64 * 2 ** 20), false))).toEqual(['{}']);
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
});

it.each([
  ['too long', deflatedSpaces(64 * 2 ** 20)],
  ['damaged at their ends', damaged(deflatedSpaces(31 * 2 ** 20))],
])('many texts of a PNG that are %s are inflated in the time of one', async (_, bomb) => {
  const made = (size: number): Buffer => pngBehind(size, bomb, false);
  expect(await growthOf(8, made, textsInMedia)).toBeLessThan(4);
});

it('a short damaged text of a PNG leaves the compressed texts behind it readable', () => {
  expect(textsInMedia(pngBehind(40, damaged(deflatedSpaces(100)), true))).toEqual(['{}']);
});

it.each(['prompt{"', 'prompt{"}', 'data{"a":'])(
  'a file of nothing but %s is read in time that grows with its length, up to a bound',
  async (beginning) => {
    const made = (size: number): Buffer => Buffer.from(`RIFF${beginning.repeat(size)}`);
    expect(await growthOf(100_000, made, textsInMedia)).toBeLessThan(4);
  },
);
