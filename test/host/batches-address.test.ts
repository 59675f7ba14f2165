import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveOut } from '../../src/host/s3-address.ts';

describe('the place of the batches', () => {
  it.each([
    ['batches', resolve('batches')],
    ['/srv/a/../batches/', '/srv/batches'],
    ['s3://nightly', 's3://nightly'],
    ['s3://nightly/', 's3://nightly'],
    ['S3://nightly/team a/hens//', 's3://nightly/team a/hens'],
  ])('%s is %s', (text, place) => expect(resolveOut(text)).toBe(place));

  it.each([
    's3:',
    's3://',
    's3://a',
    's3://UPPER/hens',
    's3:///hens',
    's3://user:password@host/hens',
    's3://nightly/../other',
    's3://nightly/a//b',
    's3://nightly/./b',
    's3://nightly/a\nb',
  ])('%j is refused with the setting and what to write', (text) => {
    expect(() => resolveOut(text, 'RUNSHEET_OUT')).toThrow(
      expect.objectContaining({
        code: 'E602',
        message: expect.stringContaining('RUNSHEET_OUT'),
        hint: expect.stringContaining('s3://bucket/folder'),
      }),
    );
  });
});
