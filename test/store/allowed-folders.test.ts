import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allowedSheet, allowOut, isAllowed } from '../../src/store/allowed-folders.ts';
import { sharedFolder } from '../stage/fresh-folder.ts';

describe('a worker', () => {
  const home = sharedFolder();
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

describe('a worker of a cluster', () => {
  const root = realpathSync(sharedFolder());
  for (const folder of ['batches', 'sheets/new', 'secret', 'sheets-old']) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'a.csv'), 'prompt\na\n');
  }
  symlinkSync(join(root, 'secret'), join(root, 'sheets', 'out'));
  symlinkSync(join(root, 'secret', 'a.csv'), join(root, 'sheets', 'link.csv'));
  symlinkSync(join(root, 'sheets'), join(root, 'also'));
  const places = {
    out: join(root, 'batches'),
    sheets: [join(root, 'also'), 's3://bucket/sheets', 's3://whole'],
  };
  const read = (sheet: string) => allowedSheet(/^s3:/i.test(sheet) ? sheet : join(root, sheet), places);

  it.each([
    ['sheets/new/a.csv', 'sheets/new/a.csv'],
    ['also/new/a.csv', 'sheets/new/a.csv'],
    ['batches/a.csv', 'batches/a.csv'],
    ['also/none.csv', 'sheets/none.csv'],
  ])('reads %s below its places', (sheet, real) => expect(read(sheet)).toBe(join(root, real)));

  it.each([
    's3://bucket/sheets/a.csv',
    'S3://bucket/sheets/b/a.csv',
    's3://whole/a.csv',
    's3://whole//a.csv',
  ])('reads %s below its places', (sheet) => expect(read(sheet)).toBe(sheet));

  it.each([
    'secret/a.csv',
    'sheets/../secret/a.csv',
    'sheets/out/a.csv',
    'sheets/link.csv',
    'sheets-old/a.csv',
    'sheets',
    'secret/none.csv',
    '../../../etc/passwd',
    's3://bucket/sheets-old/a.csv',
    's3://bucket/a.csv',
    's3://bucket/sheets/../a.csv',
    's3://other/a.csv',
    // The key begins with the second slash.
    's3://bucket//sheets/a.csv',
    's3://bucket/sheets',
  ])('does not read %s', (sheet) => expect(read(sheet)).toBeUndefined());
});
