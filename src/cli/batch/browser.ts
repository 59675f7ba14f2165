// Opens a page in the user's browser, by a process of its own: the package that finds the browser passes its whole environment on,
// and that of a command has the keys of the run service.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../host/config.ts';
import { environmentFor } from '../../host/child-environment.ts';

const PROGRAM = fileURLToPath(new URL(`browser-process${extname(import.meta.url)}`, import.meta.url));

/** A machine without a browser still has the printed address. */
export async function openBrowser(
  target: string,
  { environment }: Pick<Config, 'environment'>,
): Promise<void> {
  const env = environmentFor('browser', environment);
  const child = spawn(process.execPath, [PROGRAM, target], { stdio: 'ignore', env });
  await once(child, 'exit').catch(() => undefined);
}
