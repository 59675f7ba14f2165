// verify claims nothing about a run list that it could not read.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

/** An ended batch whose service is at this address. */
async function scene(base: string): Promise<Console> {
  const console = await Console.open();
  await endBatch(await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'done'));
  const path = join(console.out, 'done', 'batch.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as { service: { base: string } };
  file.service.base = base;
  writeFileSync(path, JSON.stringify(file));
  vi.stubEnv('RUNSHEET_API_URL', base);
  return console;
}

const AWAY = 'http://127.0.0.1:1/api';

describe('verify without the run list', () => {
  it('says that it was not read, and why, and ends with 6', async () => {
    const console = await scene(AWAY);
    const { code, stdout, stderr } = await console.run('verify', 'done');
    expect(code).toBe(6);
    expect(stdout).toMatch(
      /^\?    the run list of the service: not read: the run service at http:\S+ cannot be reached/m,
    );
    expect(stdout).not.toMatch(/^ok .* list/m);
    expect(stderr).toContain(
      'error[E522]: batch done adds up in its folder, but the run list of the service was not read: the run service',
    );
    expect(stderr).toContain('runsheet verify done --no-lists');
    expect(stderr).not.toContain('done adds up\n');
  });

  it('says so to programs', async () => {
    const console = await scene(AWAY);
    const { code, stdout } = await console.run('verify', 'done', '-o', 'json');
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({
      holds: true,
      lists_checked: false,
      lists_unread: expect.stringContaining('cannot be reached') as string,
    });
  });

  it('is content with the folder if the list is not wanted', async () => {
    const console = await scene(AWAY);
    const { code, stdout, stderr } = await console.run('verify', 'done', '--no-lists');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^done adds up in its folder\n/)]);
    expect(stdout).not.toContain('list');
  });
});
