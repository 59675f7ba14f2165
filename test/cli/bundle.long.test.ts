// In a clone the commands are one bundle, of all sources; and the workflows are another.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ownEnvironment } from '../stage/command.ts';
import {
  at,
  bundled,
  cloneWith,
  copyAll,
  besideALink,
  inCloneAt,
  kept,
  node,
  version,
} from './bundled-clone.ts';

describe('the bundle of a clone', () => {
  cloneWith(copyAll);

  it('is what runs, and is made once', () => {
    const newest = bundled();
    expect(version()).toMatch(/^bundle \d/);
    node(at('bin/bundle.mjs'));
    expect(readdirSync(kept())).toEqual([newest]);
  });

  it('is of its own sources where another clone has the same packages by a link, whatever its path has', () => {
    expect(besideALink('a#b%20c?d-', copyAll)).toEqual(['0.0.0-linked\n', 'bundle 0.0.0-linked\n']);
  });

  it('of its workflows is kept, unless other users may write to its folder', () => {
    const program = `
      const { workflowBundle } = await import(${JSON.stringify(at('src/temporal/bundle.ts'))});
      console.log(...Object.keys(await workflowBundle()));`;
    const bundleForm = (): string => node('--input-type=module', '--eval', program);
    expect(bundleForm()).toBe('codePath\n');
    chmodSync(at('node_modules/.cache/runsheet'), 0o777);
    expect(bundleForm()).toBe('code\n');
  });

  it.each(['what?', 'now!'])('of its workflows cannot be made in a path with %s, which is said', (name) => {
    inCloneAt(join(mkdtempSync(join(tmpdir(), 'runsheet-')), name), () => {
      const said = new RegExp(`E602.*workflows cannot be built in .*${name.replace('?', '[?]')}`);
      const program = `
        const { workflowBundle } = await import(${JSON.stringify(pathToFileURL(at('src/temporal/bundle.ts')).href)});
        await workflowBundle().catch(({ code, message }) => console.log(code, message));`;
      expect(node('--input-type=module', '--eval', program)).toMatch(said);
      const { stderr } = spawnSync(process.execPath, [at('bin/runsheet.mjs'), 'dev'], {
        encoding: 'utf8',
        env: { ...ownEnvironment(), RUNSHEET_HOME: at('home') },
      });
      expect(stderr).toMatch(said);
    });
  });
});
