// The storage of the service: its database, and beside it a folder with uploads and run files. Only the user
// who runs the service can read them.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from './database.ts';
import { filesBeside, uploadsIn } from './database-file.ts';
import { KeptFiles } from './executors/driving/kept-files.ts';
import { Uploads } from './uploads.ts';

type StorageOptions = {
  /** The SQLite file; `:memory:` keeps nothing. */
  readonly database: string;
  /** The most bytes of uploads of one owner. */
  readonly ownerUploadBytes: number;
};

export function openStorage({ database: file, ownerUploadBytes }: StorageOptions) {
  const isKept = file !== ':memory:';
  const database = openDatabase(file);
  const folder = isKept ? ownFolder(filesBeside(file)) : mkdtempSync(join(tmpdir(), 'runsheet-files-'));
  const uploads = new Uploads({
    folder: ownFolder(uploadsIn(folder)),
    database,
    ownerBytesMost: ownerUploadBytes,
  });
  const files = new KeptFiles(folder);
  return {
    database,
    uploads,
    files,
    /** The folder of tries of programs. */
    seats: join(folder, 'programs'),
    /** Deletes files from before `beforeMs`, except uploads that runs still need. */
    drop(beforeMs: number): void {
      files.drop(beforeMs);
      uploads.drop(beforeMs);
    },
    close(): void {
      database.close();
      if (!isKept) rmSync(folder, { recursive: true, force: true });
    },
  };
}
export type Storage = ReturnType<typeof openStorage>;

function ownFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  return path;
}
