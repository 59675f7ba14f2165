import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { Stage } from './stage/stage.ts';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

describe('the packed tarball, installed in an empty folder', () => {
  const stage = new Stage();
  const home = stage.path('user');
  const installed = join(home, 'node_modules', 'runsheet');

  beforeAll(async () => {
    await run('npm', ['pack', '--pack-destination', stage.folder], { cwd: ROOT });
    const tarball = readdirSync(stage.folder).find((name) => name.endsWith('.tgz')) ?? '';
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', stage.path(tarball)], { cwd: home });
  });
  afterAll(() => stage.close());

  it('carries compiled code and the workflow bundle, and no sources', () => {
    expect(existsSync(join(installed, 'dist', 'workflow-bundle.js'))).toBe(true);
    expect(existsSync(join(installed, 'src'))).toBe(false);
  });

  it('runs a batch', async () => {
    const program = join(installed, 'bin', 'runsheet.mjs');
    expect(program).not.toBe(programFile());
    const ended = await stage.run(['run', stage.sheet(5), '-d', 'portraits', '--local'], {}, program);
    expect(ended.stderr).toContain('5 of 5 rows succeeded');
    expect(stage.results().map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => 'succeeded'),
    );
  });
});
