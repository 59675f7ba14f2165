// A stand-in in a process of its own, which can be killed and started again.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Executed } from './comfy-process.ts';
import type { Machine } from './ordeal.ts';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));

/** `executed`: what its worker took, in order. */
export type StandInProcess = Machine & { readonly executed: () => readonly Executed[] };

/** Its processes are added to `children`. */
export async function startStandIn(folder: string, children: Set<ChildProcess>): Promise<StandInProcess> {
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
    executed: () => {
      const file = join(folder, 'executions.jsonl');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      const moments = lines.map((line) => JSON.parse(line) as Executed);
      return moments.filter(({ end }) => end === undefined);
    },
  };
}
