// The files with secrets that the steps in deploy/ make or name in a clone.

import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './manifests.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const texts = globSync('deploy/**/*.{yaml,service}', { cwd: ROOT }).map((file) =>
  readFileSync(join(ROOT, file), 'utf8'),
);
const steps = texts.flatMap((text) => text.match(/^# {3}.*/gm) ?? []).map((line) => line.slice(4));
const made = steps.filter((step) => step.includes('openssl rand'));
const files = new Set([
  ...made.flatMap((step) => [...step.matchAll(/> ([\w-]+)/g)].map(([, file]) => file)),
  ...steps.flatMap((step) => [...step.matchAll(/=\.\/(\S+)/g)].map(([, file]) => file)),
]);

describe('the files of the secrets', () => {
  it('are ignored by git', () => {
    expect([...files]).toEqual(
      expect.arrayContaining(['api-key', 'payload-key', 's3.env', 'tls.key', 'webhook-secret']),
    );
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
    // docker compose reads .env.
    for (const name of [...[...files].map((file) => `/${file}`), '.env']) expect(ignored).toContain(name);
  });

  it.each(made)('can be read by their user only: %s', (step) => {
    const folder = freshFolder();
    const { status } = spawnSync('/bin/sh', ['-c', `umask 022; ${step}`], { cwd: folder });
    expect(status).toBe(0);
    const own = [...step.matchAll(/> ([\w-]+)/g)].map(([, file = '']) => file);
    for (const file of own) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });
});
