// A Python with modules from pip, for tests of what people use there.

import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Python = {
  /** Why there is none; undefined if there is. */
  readonly missing: string | undefined;
  /** The interpreter. */
  readonly program: string;
  /** Runs a script and parses the JSON that it prints. */
  readonly read: (script: string, ...args: readonly string[]) => Promise<unknown>;
};

/** `packages`: by the names of the modules that they have. They are installed into a folder of its own if they are missing. */
export function pythonWith(name: string, packages: Readonly<Record<string, string>>): Python {
  const folder = join(tmpdir(), `runsheet-${name}`);
  const own = join(folder, 'bin', 'python');
  const has = (python: string): boolean =>
    spawnSync(python, ['-c', `import ${Object.keys(packages).join(', ')}`]).status === 0;
  const install = (): string | undefined => {
    if (!existsSync(own) && spawnSync('python3', ['-m', 'venv', folder]).status !== 0)
      return 'python3 with venv';
    const installed = spawnSync(own, ['-m', 'pip', 'install', '-q', ...Object.values(packages)]);
    return installed.status === 0 ? undefined : `pip: ${String(installed.stderr)}`;
  };
  const usable = ['python3', own].find(has);
  return {
    missing: usable === undefined ? install() : undefined,
    program: usable ?? own,
    read: async (script, ...args) => {
      const { stdout } = await promisify(execFile)(usable ?? own, ['-c', script, ...args]);
      return JSON.parse(stdout);
    },
  };
}
