// The installation of the packages, with a program in place of npm that writes down what it gets.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from './stage/fresh-folder.ts';

it('runs no install script, and gives npm no key of another program', () => {
  const folder = freshFolder();
  mkdirSync(join(folder, 'bin'));
  cpSync(join(import.meta.dirname, '../bin/setup.mjs'), join(folder, 'bin', 'setup.mjs'));
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho "$@" > "${folder}/args"\nenv > "${folder}/env"\n`);
  chmodSync(join(folder, 'npm'), 0o755);
  const secrets = [
    'RUNSHEET_API_KEY',
    'TEMPORAL_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'GITHUB_TOKEN',
    'ANYTHING',
  ];
  const kept = {
    PATH: `${folder}:${process.env['PATH']}`,
    HTTPS_PROXY: 'http://p:1',
    npm_config_registry: 'http://r',
  };
  const env = { ...Object.fromEntries(secrets.map((name) => [name, 'swordfish'])), ...kept };
  execFileSync(process.execPath, [join(folder, 'bin', 'setup.mjs')], { env, stdio: 'ignore' });
  expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(/^ci --ignore-scripts /);
  const environment = readFileSync(join(folder, 'env'), 'utf8');
  expect(environment).not.toContain('swordfish');
  for (const [name, value] of Object.entries(kept)) expect(environment).toContain(`${name}=${value}`);
});
