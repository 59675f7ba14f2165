// A key that no request can carry is refused where it is read, with where it came from and without being shown.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunsheetError } from '../../../src/errors/error.ts';
import { keyFromEnvironment, keyFromFile } from '../../../src/host/settings/api-key.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

const KEY = 'sk-0123456789abcdef';

function fileWith(content: string | Uint8Array): string {
  const path = join(freshFolder(), 'key');
  writeFileSync(path, content);
  return path;
}

function refusal(read: () => unknown): RunsheetError {
  try {
    read();
  } catch (error) {
    if (error instanceof RunsheetError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const unusable: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '\n', /it is empty/],
  ['blanks', '   ', /it is empty/],
  ['a line break', `${KEY}\n${KEY}`, /it has a line break in it, at character 20/],
  ['a space', `${KEY} ${KEY}`, /it has a space in it, at character 20/],
  ['a letter beyond ASCII', `schl\u00fcssel-${KEY}`, /character 5 is not allowed in a key/],
  ['a control character', `sk-\u0001${KEY}`, /character 4 is not allowed in a key/],
];

describe('a key of', () => {
  it.each(unusable)('%s is refused from a variable', (_, text, why) => {
    const error = refusal(() => keyFromEnvironment(text, 'RUNSHEET_API_KEY'));
    expect(error).toMatchObject({ code: 'E309', exit: 4, message: expect.stringMatching(why) });
    expect(error.message).toContain('RUNSHEET_API_KEY');
    expect(`${error.message}${error.hint}`).not.toContain(KEY);
    expect(error.hint).toBeDefined();
  });

  it.each(unusable)('%s is refused from a file', (_, text, why) => {
    const path = fileWith(text);
    const error = refusal(() => keyFromFile(path, 'RUNSHEET_API_KEY_FILE'));
    expect(error).toMatchObject({ code: 'E309', exit: 4, message: expect.stringMatching(why) });
    expect(error.message).toContain(`RUNSHEET_API_KEY_FILE (${path})`);
  });

  it('blanks around it loses them, from either', () => {
    expect(keyFromEnvironment(` ${KEY}\n`, 'RUNSHEET_API_KEY').value).toBe(KEY);
    expect(keyFromFile(fileWith(` ${KEY}\r\n`), 'RUNSHEET_API_KEY_FILE').value).toBe(KEY);
  });
});

describe('a key file that', () => {
  it.each([
    ['is not there', () => join(freshFolder(), 'none'), /there is no such file/],
    ['is a folder', () => freshFolder(), /it is a folder/],
    ['is a device', () => '/dev/zero', /it is not a file/],
    ['is larger than any key', () => fileWith('x'.repeat(70_000)), /it is larger than any key/],
    ['lies in a file', () => join(fileWith(KEY), 'key'), /a part of this path is a file/],
  ])('%s is refused', (_, pathOf, why) => {
    const path = pathOf();
    const error = refusal(() => keyFromFile(path, 'RUNSHEET_API_KEY_FILE'));
    expect(error).toMatchObject({ code: 'E309', exit: 4, message: expect.stringMatching(why) });
    expect(error.message).toContain(`RUNSHEET_API_KEY_FILE (${path})`);
  });

  it('cannot be read any more, or is being written, leaves the key as it was', () => {
    const path = fileWith(KEY);
    const key = keyFromFile(path, 'RUNSHEET_API_KEY_FILE');
    for (const content of ['', 'half\na key']) {
      writeFileSync(path, content);
      expect([key.refresh(), key.value]).toEqual([false, KEY]);
    }
    rmSync(path);
    expect([key.refresh(), key.value]).toEqual([false, KEY]);
    mkdirSync(path);
    expect([key.refresh(), key.value]).toEqual([false, KEY]);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'sk-another-000001');
    expect([key.refresh(), key.value]).toEqual([true, 'sk-another-000001']);
  });
});
