// Messages name commands the way the program was called, so that they can be pasted.

import { symlinkSync, mkdirSync } from 'node:fs';
import type { CommandContext, RouteMap } from '@stricli/core';
import { describe, expect, it } from 'vitest';
import { application } from '../../src/cli/command-list.ts';
import { asCalled, COMMANDS } from '../../src/cli/context.ts';
import { programAnywhere, programName } from '../../src/host/package-version.ts';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { sharedStage } from '../stage/shared-stage.ts';

describe('the name of the program', () => {
  it.each([
    ['/usr/local/bin/runsheet', 'runsheet'],
    ['/home/me/project/node_modules/.bin/runsheet', 'npx runsheet'],
    ['/home/me/.npm/_npx/7f3a/node_modules/.bin/runsheet', 'npx runsheet'],
    [String.raw`C:\project\node_modules\runsheet\bin\runsheet.mjs`, 'npx runsheet'],
    ['/clone/bin/runsheet.mjs', 'node bin/runsheet.mjs'],
    ['/another clone/bin/runsheet.mjs', "node '/another clone/bin/runsheet.mjs'"],
    ['', 'runsheet'],
  ])('of a process that was started as %j is %s', (file, name) => {
    expect(programName(file, '/clone')).toBe(name);
  });

  it.each([
    ['/usr/local/bin/runsheet', 'runsheet'],
    ['/home/me/project/node_modules/.bin/runsheet', 'node /home/me/project/node_modules/.bin/runsheet'],
    ['/home/me/.npm/_npx/7f3a/node_modules/runsheet/bin/runsheet.mjs', 'npx runsheet'],
    ['/clone/bin/runsheet.mjs', 'node /clone/bin/runsheet.mjs'],
    ['/my app/worker.js', 'runsheet'],
  ])('of a process that was started as %j is %s in any folder', (file, name) => {
    expect(programAnywhere(file)).toBe(name);
  });

  it('replaces the name in commands, not in sentences and paths', () => {
    const text =
      'see: runsheet --help; `runsheet dev` and runsheet retry a-1, but runsheet asks a runsheet worker in /tmp/runsheet run; RUNSHEET_HOME=/tmp/a runsheet resume a-1';
    expect(asCalled(text, 'npx runsheet')).toBe(
      'see: npx runsheet --help; `npx runsheet dev` and npx runsheet retry a-1, but runsheet asks a runsheet worker in /tmp/runsheet run; RUNSHEET_HOME=/tmp/a npx runsheet resume a-1',
    );
  });

  it('is replaced in every command of this version', () => {
    const root = application.root as RouteMap<CommandContext>;
    const shown = root.getAllEntries().filter((entry) => !entry.hidden);
    const names = shown.map(({ name }) => name['convert-camel-to-kebab']);
    expect([...COMMANDS].toSorted()).toEqual(names.toSorted());
  });
});

describe('a process of the command line', () => {
  const stage = sharedStage();
  const hintOf = async (program?: string): Promise<string> => {
    const { stderr } = await stage.run(['stats'], {}, program);
    return stderr.trimEnd().split('\n').slice(-2).join('\n');
  };

  it('names its commands as it was called', async () => {
    mkdirSync(stage.path('node_modules', '.bin'), { recursive: true });
    symlinkSync(programFile(), stage.path('node_modules', '.bin', 'runsheet'));
    expect(await hintOf()).toBe('hint: did you mean status? see: runsheet --help\n  runsheet status');
    expect(await hintOf(stage.path('node_modules', '.bin', 'runsheet'))).toBe(
      'hint: did you mean status? see: npx runsheet --help\n  npx runsheet status',
    );
    expect(await hintOf(programFile())).toBe(
      `hint: did you mean status? see: node ${programFile()} --help\n  node ${programFile()} status`,
    );
  });

  it('shows it in pages of help', async () => {
    const help = async (...args: readonly string[]) =>
      (await stage.run([...args, '--help'], {}, programFile())).stdout;
    expect(await help()).toContain(`\n  node ${programFile()} plan prompts.csv -d portrait-v3   `);
    expect((await help('schedule', 'create')).replaceAll(/\s+/g, ' ')).toContain(
      `node ${programFile()} schedule create <schedule>`,
    );
    expect((await stage.run(['--help'])).stdout).toContain('\n  runsheet plan prompts.csv');
  });

  it('keeps the name of the documents in JSON', async () => {
    const { stdout } = await stage.run(['stats', '-o', 'json'], {}, programFile());
    const { error } = JSON.parse(stdout) as { error: { hint: string } };
    expect(error.hint).toBe('did you mean status? see: runsheet --help\n  runsheet status -o json');
  });
});
