// Commands in this process, in a folder of their own, with a local run service and without Temporal.

import { vi, onTestFinished } from 'vitest';
import { Console, PORTRAITS } from '../console/console.ts';
import { wordsOf } from './printed-commands.ts';
import type { Run, Said } from './provocation.ts';

/** The folder of the console is the working folder, so names are as users type them. */
export async function openQuickGround(
  open = () => Console.open([PORTRAITS, { ...PORTRAITS, name: 'Porträts für "alle"' }]),
): Promise<Run<Console>> {
  const before = process.cwd();
  const console = await open();
  process.chdir(console.folder);
  onTestFinished(() => process.chdir(before));
  const run = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Said> => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value || undefined);
    const argv = process.argv;
    process.argv = ['node', 'runsheet', ...args];
    try {
      return await console.run(...args);
    } finally {
      process.argv = argv;
    }
  };
  const paste = async (command: string): Promise<Said> => {
    const [, file] = / > (\S+)$/.exec(command) ?? [];
    // Redirected output is not on a terminal.
    if (file !== undefined) console.isTerminal = false;
    let said: Said = { code: 0, stdout: '', stderr: '' };
    // && goes on while each of them works.
    for (const words of wordsOf(command)) if (said.code === 0) said = await run(words, {});
    if (file !== undefined) console.write(file, said.stdout);
    return said;
  };
  return { ground: console, run, paste };
}
