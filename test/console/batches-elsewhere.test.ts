// Commands on batches that are in another folder of batches than that of the settings.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { wordsOf } from '../errors/printed-commands.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { notesFolder } from '../../src/host/user-folders.ts';
import { rememberStateFolder } from '../../src/host/state-folder.ts';
import { holderHere } from '../../src/store/holder.ts';
import { createStarted } from '../../src/store/started.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

let console: Console;
let otherFolder: string;

/** A batch in another folder than that of the settings. */
async function made(name: string): Promise<CreatedBatch> {
  vi.stubEnv('RUNSHEET_OUT', otherFolder);
  const batch = await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), name);
  vi.stubEnv('RUNSHEET_OUT', join(console.folder, 'elsewhere'));
  return batch;
}

beforeEach(async () => {
  console = await Console.open();
  otherFolder = console.out;
  await endBatch(await made('cups-7f3a'));
  const before = process.cwd();
  mkdirSync(join(console.folder, 'other'));
  process.chdir(join(console.folder, 'other'));
  onTestFinished(() => process.chdir(before));
});

describe('a batch of this user in another folder', () => {
  it.each(['status', 'follow', 'resume', 'rows', 'wait'])(
    '%s: E502 ends in the same command with its folder, also for the beginning of its name',
    async (command) => {
      for (const name of ['cups-7f3a', 'cups']) {
        const { code, stderr } = await console.run(command, name);
        expect([code, stderr]).toEqual([2, expect.stringContaining(`"${name}"`)]);
        expect(stderr).toContain(`; it is in ${otherFolder}\n`);
        expect(stderr).toMatch(new RegExp(`\\n  runsheet ${command} ${name} --out \\S+\\n$`));
        const [words = []] = wordsOf(stderr.trimEnd().split('\n').at(-1)?.trim() ?? '');
        expect((await console.run(...words)).stderr).not.toContain('error');
      }
    },
  );

  it('E502 names its servers, if they are not those of the settings', async () => {
    const { store } = await made('plates');
    const home = join(console.folder, 'home');
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, 'instance'), 'a'.repeat(64));
    rememberStateFolder(home, notesFolder(process.env));
    await createStarted(store, {
      at: new Date().toISOString(),
      workflow: { workflowId: 'w', runId: 'r' },
      holder: holderHere({ kind: 'embedded', home }),
    });
    vi.stubEnv('RUNSHEET_HOME', join(console.folder, 'home-of-another'));
    const { stderr } = await console.run('resume', 'plates');
    expect(stderr).toContain(`it is in ${otherFolder}`);
    expect(stderr).toMatch(/\n {2}RUNSHEET_HOME=\S+\/home runsheet resume plates --out \S+\n$/);
  });

  it('list and commands without a name say which folders have batches', async () => {
    const listed = await console.run('list');
    expect(listed.stderr).toBe(
      `no batches here; there are some in other folders\n  list      runsheet list --out ${otherFolder}\n`,
    );
    expect((await console.run('list', '--out', otherFolder)).stdout).toContain('cups-7f3a');
    expect((await console.run('status')).stderr).toMatch(/ --out \S+\n$/);
    rmSync(join(otherFolder, 'cups-7f3a'), { recursive: true });
    expect((await console.run('list')).stderr).toBe(
      'no batches here yet\n  rehearse  runsheet run <sheet> -d portraits --local\n',
    );
  });
});

describe('the path of a batch', () => {
  it.each([['status'], ['rows'], ['open', '--no-open'], ['show', '1']])(
    '%s: names its folder of batches and the batch',
    async (command, ...more) => {
      for (const path of ['../batches/cups-7f3a', join(otherFolder, 'cups-7f3a/')])
        expect(await console.run(command, path, ...more)).toMatchObject({ code: 0 });
    },
  );

  it('is compared with another one of the same folder', async () => {
    await endBatch(await made('twin'));
    const paths = ['cups-7f3a', 'twin'].map((batch) => join('..', 'batches', batch));
    expect(await console.run('compare', ...paths)).toMatchObject({ code: 0 });
  });

  it('is in the commands that the command prints last', async () => {
    const { stderr } = await console.run('rows', '../batches/cups-7f3a');
    expect(stderr).toContain(`show cups-7f3a --out ${otherFolder} 1`);
  });
});
