// How tests start the program: under its name, and in an environment without what would change its behaviour.

import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { programFile } from '../../src/temporal/embedded/processes.ts';

/** Installs the command on the PATH, so that messages name commands as the documents do. A test that is tried again has no folder. */
export function installedIn(folder: string): string {
  const program = join(folder, 'runsheet');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(program)) symlinkSync(programFile(), program);
  return program;
}

/** The environment for commands, without variables that would change their behaviour. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CACHE_HOME, TMPDIR } = process.env;
  const installSettings = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(pip|ssl|https?|no)_/i.test(name)),
  );
  return {
    ...installSettings,
    PATH,
    HOME,
    ...(XDG_CACHE_HOME ? { XDG_CACHE_HOME } : {}),
    ...(TMPDIR ? { TMPDIR } : {}),
  };
}
