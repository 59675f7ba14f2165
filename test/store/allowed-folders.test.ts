import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allowOut, isAllowed } from '../../src/store/allowed-folders.ts';

describe('a worker', () => {
  const home = mkdtempSync(join(tmpdir(), 'runsheet-allowed-'));
  afterAll(() => rmSync(home, { recursive: true }));
  allowOut({ home, out: 's3://kept/hens' });
  const place = { home, out: 's3://nightly' };

  it.each([
    ['s3://nightly/a', true],
    ['s3://kept/hens/a', true],
    ['s3://nightly/a/b', false],
    ['s3://nightly', false],
    ['s3://nightly/../other/a', false],
    ['s3://kept/a', false],
    ['s3://other/a', false],
    ['/nightly/a', false],
  ])('may use %s: %s', (folder, expected) => expect(isAllowed(folder, place)).toBe(expected));
});
