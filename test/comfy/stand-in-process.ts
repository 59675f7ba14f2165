// A stand-in in a process of its own, which can be killed and started again.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Machine } from './ordeal.ts';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));

/** Starts a stand-in whose processes are added to `children`. */
export async function startStandIn(folder: string, children: Set<ChildProcess>): Promise<Machine> {
  const start = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(process.execPath, [PROGRAM, folder, '--port', port], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(child);
    const [url] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line')) as [string];
    return { child, url };
  };
  let { child, url } = await start('0');
  return {
    url,
    output: join(folder, 'output'),
    restart: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      ({ child } = await start(new URL(url).port));
    },
  };
}
