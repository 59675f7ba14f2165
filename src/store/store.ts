// The interface to a batch's files. Every write is atomic, and a file's name determines its content, so writing a file twice
// is harmless. `folder.ts` implements it for a local folder.

import type { Readable } from 'node:stream';

/** A file that is written piece by piece and invisible until `commit`. */
export interface Draft {
  write(content: string | Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Discards the draft; does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Identifies a draft to continue: `id` names the file, `mark` its content. */
export type Resumption = { readonly id: string; readonly mark: string };

/** A draft that a later draft can continue, also in another process. */
export interface ResumableDraft extends Draft {
  /** Bytes of the earlier draft; writing appends to them. */
  readonly kept: number;
  /** The bytes that were kept. */
  read(): Readable;
  /** Starts over: the next write goes to the beginning. */
  restart(): void;
  /** Closes this draft and keeps its bytes for a later one. */
  leave(): Promise<void>;
}

/** Names are relative to the batch, with forward slashes: `rows/00001.jsonl`. */
export interface Store {
  /** The location, for messages. */
  readonly location: string;
  /** The whole file as text; undefined if there is none. */
  read(name: string): Promise<string | undefined>;
  /** The file as a stream of bytes; errors with ENOENT if there is none. */
  open(name: string): Readable;
  exists(name: string): Promise<boolean>;
  /** Names of the files directly in `folder`, sorted; empty if the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /**
   * Writes a whole file. A `synced` file survives a power cut. A `cached` file may not; a synced file has its checksum.
   */
  write(name: string, content: string | Uint8Array, as?: 'synced' | 'cached'): Promise<void>;
  /** Writes a whole file unless it exists; returns false and changes nothing if it does. */
  create(name: string, content: string | Uint8Array): Promise<boolean>;
  draft(name: string): Promise<Draft>;
  /** Absent if this store has no partial files. */
  readonly resumable?: (name: string, as: Resumption) => Promise<ResumableDraft>;
  /** Removes the partial files in `folder` whose ids begin with `ids`. */
  readonly dropResumable?: (folder: string, ids: string) => Promise<void>;
}
