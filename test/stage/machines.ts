// Machines for tests: processes with a network and a /tmp of their own, which share nothing with others but addresses that are
// forwarded to them. Needs root on Linux.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ownEnvironment } from './command.ts';
import { openForward } from './forward.ts';
import { Running } from './stage.ts';
import { programFile } from '../../src/temporal/embedded/processes.ts';

const FORWARD = fileURLToPath(new URL('forward.ts', import.meta.url));

/** Why this machine cannot have such machines; undefined: it can. */
export function withoutMachines(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make network namespaces';
  const name = `rs-probe-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]);
  if (made.status !== 0) return 'there is no `ip netns`, or it is not allowed';
  spawnSync('ip', ['netns', 'del', name]);
  return spawnSync('unshare', ['-m', 'true']).status === 0 ? undefined : 'mount namespaces are not allowed';
}

export type Machine = {
  /** The machine's address for this process. */
  readonly address: string;
  /** Starts the program there. */
  start(args: readonly string[], environment: Readonly<Record<string, string>>): Running;
  close(): Promise<void>;
};

/** `reaches`: addresses on loopback of this process that are the same on the machine. */
export async function openMachine(number: number, reaches: readonly string[]): Promise<Machine> {
  const name = `rs${process.pid}m${number}`;
  // Machines that a killed test has left have other addresses.
  const network = `10.${100 + (process.pid % 100)}.${number}`;
  const [host, address] = [`${network}.1`, `${network}.2`];
  const ip = (...args: readonly string[]): unknown => execFileSync('ip', args);
  ip('netns', 'add', name);
  // The names of interfaces have at most 15 characters.
  const [near, far] = [`rs${process.pid}a${number}`, `rs${process.pid}b${number}`];
  ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
  ip('addr', 'add', `${host}/24`, 'dev', near);
  ip('link', 'set', near, 'up');
  ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', far);
  ip('-n', name, 'link', 'set', far, 'up');
  ip('-n', name, 'link', 'set', 'lo', 'up');
  const servers: Server[] = [];
  const pairs: string[] = [];
  for (const at of reaches) {
    const port = at.split(':')[1] ?? '';
    servers.push(await openForward(`${host}:${port}`, () => at));
    pairs.push(`127.0.0.1:${port}=${host}:${port}`);
  }
  const started: Running[] = [];
  const run = (command: readonly string[], environment: NodeJS.ProcessEnv): Running => {
    const inside = ['netns', 'exec', name, 'unshare', '-m', 'sh', '-c', ALONE, ...command];
    const running = new Running(
      spawn('ip', inside, { cwd: '/', env: environment, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    started.push(running);
    return running;
  };
  await run([process.execPath, FORWARD, ...pairs], ownEnvironment()).says(/forwarding/);
  return {
    address,
    start: (args, environment) =>
      run([process.execPath, programFile(), ...args], { ...ownEnvironment(), ...PRIVATE, ...environment }),
    close: async () => {
      await Promise.all(started.map((running) => running.kill('SIGKILL')));
      for (const server of servers) server.close();
      ip('netns', 'del', name);
    },
  };
}

/** Nothing that a process writes to /tmp is seen by another one. */
const ALONE = 'mount -t tmpfs tmpfs /tmp && cd /tmp && exec "$0" "$@"';
const PRIVATE = { HOME: '/tmp', XDG_CACHE_HOME: '/tmp/cache', RUNSHEET_HOME: '/tmp/state' };
