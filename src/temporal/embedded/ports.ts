// Chooses the ports of a state folder, the same across restarts if possible, because outstanding runs call back to
// the receiver's old address.

import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { textIfThere } from '../../errors/file-fault.ts';
import { jsonIn } from '../../errors/outside-text.ts';

const NAMES = ['temporal', 'receiver', 'service'] as const;
export type Ports = Readonly<Record<(typeof NAMES)[number], number>>;

export async function choosePorts(home: string): Promise<Ports> {
  const before = lastPorts(home);
  const chosen = new Map<string, number>();
  for (const name of NAMES) {
    const port = before[name];
    const taken = [...chosen.values()];
    const isKept = port !== undefined && !taken.includes(port) && (await awaitFree(port));
    chosen.set(name, isKept ? port : await freePort(taken));
  }
  const ports = Object.fromEntries(chosen) as Ports;
  writeFileSync(portsFile(home), JSON.stringify(ports));
  return ports;
}

const portsFile = (home: string): string => join(home, 'ports.json');

const lastPorts = (home: string): Partial<Ports> =>
  (jsonIn(textIfThere(portsFile(home)) ?? '') as Partial<Ports> | undefined) ?? {};

/** The port of a server that was just killed becomes free a moment later. */
async function awaitFree(port: number): Promise<boolean> {
  for (const until = Date.now() + RELEASE_MS; ; await wait(ASK_AGAIN_MS)) {
    if ((await listenOnce(port)) === port) return true;
    if (Date.now() > until) return false;
  }
}

const RELEASE_MS = 1_000;
const ASK_AGAIN_MS = 20;

/**
 * A port below those from which systems open connections (Linux: 32,768 and above), which may be taken before the
 * server starts.
 */
async function freePort(taken: readonly number[]): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT);
    if (!taken.includes(port) && (await listenOnce(port)) !== undefined) return port;
  }
}

const MIN_PORT = 10_000;
const MAX_PORT = 32_768;

/** The port if it is free to listen on, for 0 any free port; undefined if it is in use. */
export function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
