// The folder in which a batch is prepared, before it exists: made, touched while its user thinks, and removed.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileFault, makeFolder } from '../errors/file-fault.ts';
import type { Config } from '../host/settings/config.ts';
import { takeStateFolder } from '../host/state-folder.ts';
import { openStore } from '../store/open-store.ts';

/** Where a batch is prepared, before it exists. */
export type Preparing = {
  /** The place of the batches. In a local folder, a batch is prepared there as well, so that it only has to be moved. */
  readonly out: string;
  /** The state folder, for batches that are elsewhere (default: the temporary folder of this machine). */
  readonly home?: string;
};

export const preparingIn = ({ out, home }: Pick<Config, 'out' | 'home'>) => ({ out, home });

/** A folder in which a batch is prepared; it is removed after `use`, unless it was moved. Throws E606 and E607. */
export async function withIncoming<T>(place: Preparing, use: (folder: string) => Promise<T>): Promise<T> {
  await using incoming = await Incoming.make(place);
  // Awaited here, because the folder is removed on return.
  return await use(incoming.folder);
}

/** A folder that nobody has used for an hour is removed by `clean`. */
const TOUCHED_MS = 600_000;

/** A folder in which a batch is prepared, for as long as its user thinks about it. */
export class Incoming implements AsyncDisposable {
  readonly folder: string;
  readonly #touching: NodeJS.Timeout;

  private constructor(folder: string) {
    this.folder = folder;
    const touch = (): void => void utimes(folder, new Date(), new Date()).catch(() => undefined);
    this.#touching = setInterval(touch, TOUCHED_MS).unref();
  }

  /** The caller disposes of it. Throws E606 and E607. */
  static async make({ out, home }: Preparing): Promise<Incoming> {
    const isLocal = openStore(out).localPath !== undefined;
    const folder = isLocal ? out : (home ?? tmpdir());
    try {
      if (isLocal) await makeFolder(folder);
      else if (home !== undefined) takeStateFolder(home);
      return new Incoming(await mkdtemp(join(folder, INCOMING)));
    } catch (error) {
      throw outFault(folder, error);
    }
  }

  /** True if it was removed, as `clean` does after a machine has slept; then it is there again, and empty. */
  async restore(): Promise<boolean> {
    if (existsSync(this.folder)) return false;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#touching);
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const INCOMING = '.incoming-';

export const outFault = (path: string, error: unknown): unknown =>
  fileFault(error, {
    path,
    hint: 'choose another folder for the batches with --out <dir> or RUNSHEET_OUT; if they are in S3, another RUNSHEET_HOME',
  }) ?? error;
