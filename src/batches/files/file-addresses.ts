// Gives files addresses that the run service can read. Each content is uploaded once per service; its address is remembered, and
// renewed before it expires.

import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { problem } from '../../errors/error.ts';
import { callSignal } from '../../host/call-signal.ts';
import type { Config } from '../../host/settings/config.ts';
import { identityOf } from '../../host/service-address.ts';
import { isWebAddress } from '../../host/http/web-address.ts';
import { addressExpiryMs } from '../../service-client/address-expiry.ts';
import type { RunService } from '../../service-client/client.ts';
import { openGoneFiles, type IsGone } from '../../host/http/gone-files.ts';
import { openServices, type Spoken } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import { openStore } from '../../store/open-store.ts';

export type FileToUpload = { readonly path: string; readonly sha256: string; readonly bytes: number };

type AddressParams<F> = {
  readonly service: Pick<RunService, 'sendFile'>;
  readonly memory: UploadMemory;
  /** Whether the service has lost a file that it had. */
  readonly isGone: IsGone;
  /** When the batch stops sending, if it does. */
  readonly deadlineAt: number | undefined;
  readonly open: (file: F) => AsyncIterable<Uint8Array>;
  /** The error for a file that is gone or has changed. */
  readonly changed: (file: F, gone?: unknown) => Error;
  /** The address of a file if the service takes no uploads. */
  readonly atService: (file: F) => Promise<string>;
};

/** The shortest useful life of an address if the batch has no deadline. */
const USEFUL_MS = 86_400_000;

export class FileAddresses<F extends FileToUpload> implements Disposable {
  readonly #params: AddressParams<F>;
  readonly #inFlight = new Map<string, Promise<string>>();
  /** The addresses of files at a service that takes no uploads, by content. */
  readonly #atService = new Map<string, string>();
  readonly #gone = new Set<string>();
  #takesFiles = true;
  uploaded = 0;
  /** When the first of the addresses expires. */
  endsAt: number | undefined;

  constructor(params: AddressParams<F>) {
    this.#params = params;
  }

  /** The address of an earlier upload that stays valid until the deadline; without a deadline, for `leastMs`. */
  known({ sha256 }: Pick<F, 'sha256'>, leastMs = USEFUL_MS): string | undefined {
    const { memory, deadlineAt } = this.#params;
    const address = memory.get(sha256);
    if (address === undefined || this.#gone.has(address)) return undefined;
    const end = addressExpiryMs(address);
    return end !== undefined && end < (deadlineAt ?? Date.now() + leastMs) ? undefined : address;
  }

  /** The address that {@link of} has returned for this content, if it is still valid. */
  found(sha256: string): string | undefined {
    return this.#atService.get(sha256) ?? this.known({ sha256 }, 0);
  }

  /** Whether this content was ever uploaded to the service. */
  wasUploaded({ sha256 }: Pick<F, 'sha256'>): boolean {
    return this.#params.memory.get(sha256) !== undefined;
  }

  /** Forgets the address of an earlier upload that the service has lost since. */
  async check(file: Pick<F, 'sha256'>): Promise<void> {
    const address = this.known(file);
    if (address !== undefined && (await this.#params.isGone(address))) this.#gone.add(address);
  }

  /** `isChecked`: {@link check} has been called. Throws E554 if the address expires too early, and the errors of the params. */
  async of(file: F, isChecked = false): Promise<string> {
    const { sha256 } = file;
    const finding = this.#inFlight.get(sha256) ?? this.#find(file, isChecked);
    this.#inFlight.set(sha256, finding);
    try {
      return this.#checked(await finding);
    } finally {
      this.#inFlight.delete(sha256);
    }
  }

  [Symbol.dispose](): void {
    this.#params.memory[Symbol.dispose]();
  }

  async #find(file: F, isChecked: boolean): Promise<string> {
    if (!isChecked) await this.check(file);
    const earlier = this.known(file);
    if (earlier !== undefined) return earlier;
    const { service, memory } = this.#params;
    if (!this.#takesFiles) return this.#findAtService(file);
    const useless = memory.get(file.sha256);
    const address = await service.sendFile({
      name: basename(file.path),
      bytes: file.bytes,
      open: () => this.#content(file),
    });
    if (address === undefined) {
      this.#takesFiles = false;
      return this.#findAtService(file);
    }
    this.uploaded += 1;
    this.#gone.delete(address);
    return memory.add(file.sha256, usable(file, address), useless);
  }

  async #findAtService(file: F): Promise<string> {
    const address = usable(file, await this.#params.atService(file));
    this.#atService.set(file.sha256, address);
    return address;
  }

  /** The bytes of the file. Throws after the last one if the content has changed. */
  async *#content(file: F): AsyncGenerator<Uint8Array> {
    const { open, changed } = this.#params;
    const hash = createHash('sha256');
    let read = 0;
    try {
      for await (const chunk of open(file)) {
        read += chunk.byteLength;
        hash.update(chunk);
        if (read <= file.bytes) yield chunk;
      }
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? changed(file, error) : error;
    }
    if (hash.digest('hex') !== file.sha256) throw changed(file);
  }

  #checked(address: string): string {
    const end = addressExpiryMs(address);
    if (end === undefined) return address;
    const { deadlineAt } = this.#params;
    // No row is sent after its file has expired, so half of a day is enough to begin with.
    if (deadlineAt === undefined && end - Date.now() > USEFUL_MS / 2) return address;
    if (deadlineAt === undefined || deadlineAt > end) throw expires(end, this.#takesFiles);
    this.endsAt = Math.min(end, this.endsAt ?? end);
    return address;
  }
}

/** The address as it can stand in JSON and in a request. Throws E555. */
function usable({ path }: FileToUpload, address: string): string {
  if (isWebAddress(address)) return new URL(address).href;
  throw problem('E555', { file: path, why: `the run service gives it the address ${address}` });
}

function expires(end: number, isUploaded: boolean) {
  const minutes = Math.max(1, Math.floor((end - Date.now()) / 60_000) - 5);
  const deadline = `${minutes}m`;
  return problem(
    'E554',
    { at: new Date(end).toISOString(), what: isUploaded ? 'uploaded files' : 'outputs', deadline },
    { correction: { add: [['--deadline', deadline]] } },
  );
}

/**
 * Remembers the addresses of uploaded files by content, so that the same picture is the same input: it is uploaded once per service, and rows that
 * were bought with it are found again.
 */
const UPLOADS = '.uploads.sqlite';

/** How long to wait for another command that writes to the database. */
const BUSY_MS = 10_000;

export const UPLOADS_IN_FLIGHT = 8;

/** The service that receives files, with its earlier uploads. */
export function openUploads(config: Config, spoken: Spoken) {
  const service = openServices(config, openTransport(UPLOADS_IN_FLIGHT)).at(spoken);
  const folder = openStore(config.out).localPath?.('') ?? config.home;
  const isGone = openGoneFiles(UPLOADS_IN_FLIGHT, service.base, callSignal());
  return { service, memory: new UploadMemory(folder, identityOf(service.base)), isGone };
}

export class UploadMemory implements Disposable {
  readonly #database;
  readonly #find;
  readonly #insert;
  readonly #base: string;

  /** `folder`: the folder of the batches, or the state folder if they are not on this machine. `base`: the address of the service. */
  constructor(folder: string, base: string) {
    this.#base = base;
    this.#database = new DatabaseSync(join(folder, UPLOADS), { timeout: BUSY_MS });
    this.#database.exec(
      'CREATE TABLE IF NOT EXISTS upload (base TEXT, sha256 TEXT, address TEXT, PRIMARY KEY (base, sha256)) WITHOUT ROWID',
    );
    this.#find = this.#database.prepare('SELECT address FROM upload WHERE base = ? AND sha256 = ?');
    this.#insert = this.#database.prepare(
      'INSERT INTO upload VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET address = excluded.address WHERE address = ?',
    );
  }

  get(sha256: string): string | undefined {
    return this.#find.get(this.#base, sha256)?.['address'] as string | undefined;
  }

  /** Returns the address that counts: two concurrent commands both use the first one. `instead`: the useless address to replace. */
  add(sha256: string, address: string, instead: string | undefined): string {
    this.#insert.run(this.#base, sha256, address, instead ?? '');
    return this.get(sha256) ?? address;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
