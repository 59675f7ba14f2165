import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceFile } from '../../src/host/replace-file.ts';

it('a replaced file has all of the new text, for its user only, and nothing stays beside it', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'replace-'));
  const file = join(folder.path, 'a.json');
  for (const text of ['a longer text', 'short']) replaceFile(file, text);
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['short', 0o600]);
  expect(readdirSync(folder.path)).toEqual(['a.json']);
});

it('a file that cannot be replaced leaves nothing beside it', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'replace-'));
  mkdirSync(join(folder.path, 'a.json'));
  expect(() => replaceFile(join(folder.path, 'a.json'), 'text')).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(folder.path)).toEqual(['a.json']);
});
