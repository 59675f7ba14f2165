// The ports of the embedded servers.

import { createServer } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { choosePorts } from '../../src/temporal/embedded/ports.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('the ports of a state folder', () => {
  let home = '';
  beforeEach(() => {
    home = freshFolder();
  });

  it('differ, and are none that the system gives to connections', async () => {
    const ports = Object.values(await choosePorts(home));
    expect(new Set(ports).size).toBe(3);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });

  it('stay the same, except one that another program has taken meanwhile', async () => {
    const first = await choosePorts(home);
    expect(await choosePorts(home)).toEqual(first);
    const blocker = createServer();
    await new Promise<void>((listening) => blocker.listen(first.service, '127.0.0.1', listening));
    try {
      const { service, ...unchanged } = await choosePorts(home);
      expect(service).not.toBe(first.service);
      expect({ ...unchanged, service: first.service }).toEqual(first);
    } finally {
      await new Promise((closed) => blocker.close(closed));
    }
  });
});
