// The uploads of clients: their bytes are files in a folder, everything else is a row of the database.
//
//      reserved (V1) ─▶ <id>.<n>.part ──whole──▶ <id> ──row──▶ kept ──old──▶ dropped: first the row, then the file
//
// A crash in between leaves a file without a row, or a row without its file; the next start removes both.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Database, UploadRow } from './database.ts';
import { keepPart, writePart } from './whole-file.ts';

/** A reserved or complete upload. */
type NewUpload = Omit<UploadRow, 'bytes'>;

type UploadsWorld = {
  readonly folder: string;
  readonly database: Pick<Database, 'upload' | 'uploadOf' | 'wholeUploads' | 'forgetUpload' | 'dropUploads'>;
  /** The most bytes that all uploads of one owner may take. */
  readonly ownerBytesMost: number;
};

class UploadTooLarge extends Error {
  override readonly name: string = 'UploadTooLarge';
  readonly statusCode = 413;
}

export class Uploads {
  readonly #world: UploadsWorld;
  /** The bytes of each owner, including those that are arriving. */
  readonly #bytesOf = new Map<string, number>();
  #parts = 0;

  constructor(world: UploadsWorld) {
    this.#world = world;
    mkdirSync(world.folder, { recursive: true, mode: 0o700 });
    this.#removeLeftovers();
  }

  find(id: string): UploadRow | undefined {
    return this.#world.database.uploadOf(id);
  }

  /** Whether the upload has arrived and is still kept. */
  has(id: string): boolean {
    return (this.find(id)?.bytes ?? null) !== null;
  }

  /** undefined if the upload has not arrived or was dropped. */
  async open(id: string): Promise<Readable | undefined> {
    if (!this.has(id)) return undefined;
    try {
      return (await open(this.#pathOf(id))).createReadStream();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  reserve(upload: NewUpload): void {
    this.#world.database.upload({ ...upload, bytes: null });
  }

  /** Throws UploadTooLarge. */
  async store(upload: NewUpload, content: Readable, bytesMost: number): Promise<void> {
    await this.#receive(upload, content, bytesMost, () => true);
  }

  /** Stores the file of a reserved upload; false if there is none, or if it is filled by now. Throws UploadTooLarge. */
  async fill(id: string, content: Readable, bytesMost: number): Promise<boolean> {
    const isReserved = (): boolean => this.find(id)?.bytes === null;
    const upload = this.find(id);
    return upload !== undefined && (await this.#receive(upload, content, bytesMost, isReserved));
  }

  /** Deletes uploads from before `beforeMs`, except those that unfinished runs need. */
  drop(beforeMs: number): void {
    for (const { id, owner, bytes } of this.#world.database.dropUploads(beforeMs)) {
      this.#add(owner, -(bytes ?? 0));
      rmSync(this.#pathOf(id), { force: true });
    }
  }

  async #receive(
    upload: NewUpload,
    content: Readable,
    bytesMost: number,
    isWanted: () => boolean,
  ): Promise<boolean> {
    const { database } = this.#world;
    this.#parts += 1;
    const part = this.#pathOf(`${upload.id}.${this.#parts}.part`);
    let bytes = 0;
    const count = (more: number): void => {
      bytes += more;
      this.#add(upload.owner, more);
      if (bytes > bytesMost) throw new UploadTooLarge(`a file has at most ${inMib(bytesMost)} MiB here`);
      this.#refuseTooMuch(upload.owner);
    };
    let isKept = false;
    try {
      await writePart(content, part, { count });
      if (!isWanted()) return false;
      const safe = keepPart(part, this.#pathOf(upload.id));
      database.upload({ ...upload, bytes });
      isKept = true;
      await safe;
      return true;
    } finally {
      if (!isKept) {
        this.#add(upload.owner, -bytes);
        rmSync(part, { force: true });
      }
    }
  }

  #refuseTooMuch(owner: string): void {
    const most = this.#world.ownerBytesMost;
    if ((this.#bytesOf.get(owner) ?? 0) <= most) return;
    throw new UploadTooLarge(
      `your uploads here would have more than the ${inMib(most)} MiB that one person may keep; the oldest are deleted with time`,
    );
  }

  #add(owner: string, bytes: number): void {
    this.#bytesOf.set(owner, (this.#bytesOf.get(owner) ?? 0) + bytes);
  }

  #removeLeftovers(): void {
    const { folder, database } = this.#world;
    const names = new Set(readdirSync(folder));
    for (const { id, owner, bytes } of database.wholeUploads()) {
      if (names.delete(id)) this.#add(owner, bytes ?? 0);
      else database.forgetUpload(id);
    }
    for (const name of names) rmSync(join(folder, name), { force: true });
  }

  #pathOf(name: string): string {
    return join(this.#world.folder, name);
  }
}

const inMib = (bytes: number): number => Math.floor(bytes / 2 ** 20);
