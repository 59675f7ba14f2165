import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canBeNobody, placeOfNobody, runAsNobody } from '../stage/nobody.ts';

describe.skipIf(!canBeNobody)('a user without a name', () => {
  let place: Awaited<ReturnType<typeof placeOfNobody>>;
  beforeAll(async () => {
    place = await placeOfNobody();
    writeFileSync(join(place.folder, 'sheet.csv'), 'prompt\na hen\n');
  });
  afterAll(() => rmSync(place.folder, { recursive: true }));
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runAsNobody(place.folder, args, { PATH: place.path, ...env });

  it.each([
    ['no home', {}],
    ['a home that cannot be written', { HOME: '/' }],
    ['a home that does not exist', { HOME: '/none/here' }],
  ])('and with %s gets a good report of doctor', (_, env) => {
    const { status, stdout, stderr } = run(['doctor'], env);
    expect({ status, stderr: stderr.replace(/ +rehearse.*\n/, '') }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toContain('✗');
  });

  it('whose cache folder cannot be written learns the setting for it', () => {
    const { status, stdout } = run(['doctor'], { XDG_CACHE_HOME: '/none', PATH: '/none' });
    expect(status).toBe(6);
    expect(stdout).toMatch(/hint: this user cannot write \/none\/runsheet: set XDG_CACHE_HOME/);
  });
});
