// The files of runs, copied to the service, because on the server a person may delete them and their names
// may be reused.
//
//      <folder>/<day>/<run>/<n>.png     written as .part, and renamed when it is whole

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, openAsBlob, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputFile } from '../executor.ts';
import type { StoredFile, StoredOutput, AssignedRun } from './assigned-run.ts';
import { vendorFacts } from '../../../options/facts/server-kind.ts';
import type { Backend, FileRef, MadeOutput } from '../backend.ts';
import { FileFault } from '../../../host/http/download-faults.ts';
import { FileGone, type ServerDeps } from './server-deps.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../../../errors/error.ts';
import { mediaTypeOf } from '../../../host/formats/media-types.ts';
import { keepPart, linkFile, writePart } from '../../whole-file.ts';

const MAX_BYTES = 8 * 2 ** 30;
/** A server that sends a file drop by drop must not keep the run forever. */
const FILE_MS = 3_600_000;

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export class KeptFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Copies all files of a run; a repeated call replaces them. Throws FileGone if a file was deleted. */
  async store(
    runId: string,
    day: string,
    made: readonly MadeOutput[],
    backend: Backend,
  ): Promise<readonly StoredOutput[]> {
    const names = new Set<string>();
    const outputs: StoredOutput[] = [];
    for (const { node, key, files, texts } of made.toSorted(byNode)) {
      const stored: StoredFile[] = [];
      for (const ref of files)
        stored.push(await this.#copy({ runId, day, number: names.size + 1 }, ref, names, backend));
      outputs.push({ node, key, files: stored, texts });
    }
    return outputs;
  }

  async #copy(
    { runId, day, number }: { readonly runId: string; readonly day: string; readonly number: number },
    ref: FileRef,
    names: Set<string>,
    backend: Backend,
  ): Promise<StoredFile> {
    const filename = freeName(ref.filename, names);
    names.add(filename);
    const [extension = ''] = /\.[a-z\d]{1,8}$/i.exec(filename) ?? [];
    const path = join(day, runId, `${number}${extension}`);
    const target = join(this.#folder, path);
    mkdirSync(join(this.#folder, day, runId), { recursive: true, mode: 0o700 });
    if (ref.path !== undefined) {
      const bytes = await linkFile(ref.path, target);
      if (bytes === undefined) throw deleted(ref, backend);
      return { filename, path, type: typeOf(extension), bytes };
    }
    const content = await backend.file(ref);
    if (content === undefined) throw deleted(ref, backend);
    let bytes = 0;
    const count = (more: number): void => {
      bytes += more;
      if (bytes > MAX_BYTES) throw new FileGone(`the file ${ref.filename} is too large`);
    };
    await writePart(content, `${target}.part`, { count, signal: AbortSignal.timeout(FILE_MS) });
    await keepPart(`${target}.part`, target);
    return { filename, path, type: typeOf(extension), bytes };
  }

  /** Keeps a file only while `use` needs it. */
  async passing<T>(
    chunks: AsyncIterable<Uint8Array>,
    use: (content: Blob, sha256: string) => Promise<T>,
  ): Promise<T> {
    const folder = join(this.#folder, dayOf(Date.now()));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${randomUUID()}.part`);
    const hash = createHash('sha256');
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        await file.appendFile(chunk);
      }
      return await use(await openAsBlob(path), hash.digest('hex'));
    } finally {
      await file.close();
      rmSync(path, { force: true });
    }
  }

  /** undefined if the file was dropped. */
  open({ path, type, bytes }: StoredFile): OutputFile | undefined {
    const file = join(this.#folder, path);
    return existsSync(file) ? { type, bytes, content: () => createReadStream(file) } : undefined;
  }

  /** Deletes the files of runs from earlier days; at the end of a day, all files of the day are older than `beforeMs`. */
  drop(beforeMs: number): void {
    const first = dayOf(beforeMs);
    try {
      for (const day of readdirSync(this.#folder))
        if (/^\d{4}-\d\d-\d\d$/.test(day) && day < first)
          rmSync(join(this.#folder, day), { recursive: true, force: true });
    } catch {
      // The folder does not exist yet.
    }
  }
}

const deleted = ({ filename }: FileRef, backend: Backend): FileGone =>
  new FileGone(`the file ${filename} was deleted before it was copied${keepsOf(backend)}`);

/** How long a vendor keeps files. */
function keepsOf({ kind }: Backend): string {
  const time = vendorFacts(kind)?.keeps;
  return time === undefined ? '' : `: ${kind} keeps files for ${time}`;
}

/** A letter may take four of the 255 bytes of a name in UTF-8. */
const MAX_NAME = 60;

const byNode = (a: MadeOutput, b: MadeOutput): number =>
  a.node.localeCompare(b.node, 'en', { numeric: true });

/** Turns a server's file name into a safe name, which is never a path and is unique within the run. */
function freeName(serverName: string, taken: ReadonlySet<string>): string {
  const plain = serverName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^\.+/, '_');
  const cut = plain.slice(-MAX_NAME).toWellFormed().replaceAll('\uFFFD', '_');
  for (let number = taken.size + 1; ; number += 1) {
    const name = taken.has(cut) ? `${number}-${cut}` : cut;
    if (!taken.has(name)) return name;
  }
}

const MARKUP = /^\.(?:html|svg|js|pdf)$/i;

/** Markup gets no media type of its own: a browser must not show it as a page of this service. */
const typeOf = (extension: string): string =>
  MARKUP.test(extension) ? 'application/octet-stream' : mediaTypeOf(extension);

/**
 * How often a failing copy is repeated, at growing intervals. A run succeeds only after its files are copied.
 * While the server is away, no attempt counts.
 */
export const MAX_ATTEMPTS = 10;
/** The same for a file that its host does not have; a file that was made just now may need a moment to appear. */
const ABSENT_ATTEMPTS = 3;
/** The longest wait, as a multiple of the first one. */
const SLOWEST = 64;
export const waitMsAfter = (failures: number, everyMs: number): number =>
  everyMs * Math.min(2 ** (failures - 1), SLOWEST);

type CopiedServer = { readonly name: string; readonly backend: Backend; readonly away: unknown };

/** Copies the outputs of a run. Returns them, or the reason why they cannot be copied; undefined if `goesOn` turns false. */
export async function storedOutputs(
  assigned: AssignedRun,
  server: CopiedServer,
  deps: Pick<ServerDeps, 'store'>,
  { goesOn, everyMs }: { readonly goesOn: () => boolean; readonly everyMs: number },
): Promise<readonly StoredOutput[] | Error | undefined> {
  const made = assigned.state.made?.outputs ?? [];
  assigned.work = { ...assigned.work, liveStatus: `its files are copied from ${server.name}` };
  for (let failures = 0; goesOn();) {
    try {
      const stored = await deps.store(assigned, made, server.backend);
      return goesOn() ? stored : undefined;
    } catch (error) {
      if (error instanceof FileGone) return error;
      failures = server.away === undefined ? failures + 1 : 1;
      const { name } = server;
      const reason = errorMessage(error);
      if (error instanceof FileFault && error.isAbsent && failures >= ABSENT_ATTEMPTS)
        return new Error(`its file is not at ${name} any more${keepsOf(server.backend)}: ${reason}`);
      if (failures >= MAX_ATTEMPTS)
        return new Error(`its files could not be copied from ${name} in ${failures} attempts: ${reason}`);
      assigned.work = { ...assigned.work, liveStatus: `its files cannot be copied from ${name}: ${reason}` };
      await wait(waitMsAfter(failures, everyMs), undefined, { ref: false });
    }
  }
  return undefined;
}
