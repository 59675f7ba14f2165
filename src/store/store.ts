// Where a batch's files lie. Everything that is written arrives whole under its name or not at all, and every name says
// what it holds, so that writing a file twice is harmless. A local folder is one such place (`folder.ts`).

import type { Readable } from 'node:stream';

/** A file that is being written piece by piece; nobody sees it before `commit`. */
export interface Draft {
  write(content: string | Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Gives the draft up; harmless after `commit`. */
  discard(): Promise<void>;
}

/** Which draft goes on where an earlier one stopped: `id` names the file, `mark` its content. */
export type Resumption = { readonly id: string; readonly mark: string };

/** A draft that another one, also of another process, can go on from. */
export interface ResumableDraft extends Draft {
  /** Bytes that an earlier draft left; what is written comes behind them. */
  readonly kept: number;
  /** The bytes that were kept. */
  read(): Readable;
  /** From here on what is written comes first again. */
  restart(): void;
  /** Ends this draft; what was written stays for another one. */
  leave(): Promise<void>;
}

/** Names are relative to the batch, with forward slashes: `rows/00001.jsonl`. */
export interface Store {
  /** Where it lies, for messages to people. */
  readonly location: string;
  /** The whole file as text; undefined where there is none. */
  read(name: string): Promise<string | undefined>;
  /** The file as a stream of bytes; errors with ENOENT where there is none. */
  open(name: string): Readable;
  exists(name: string): Promise<boolean>;
  /** Names of the files directly in `folder`, sorted; empty where the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /**
   * Writes a whole file. `synced` files survive a power cut; `cached` ones, of which a synced file tells the checksum, are
   * left to the operating system's own pace.
   */
  write(name: string, content: string | Uint8Array, as?: 'synced' | 'cached'): Promise<void>;
  /** Writes a whole file unless it is there; false where it is, and then it stays as it is. */
  create(name: string, content: string | Uint8Array): Promise<boolean>;
  draft(name: string): Promise<Draft>;
  /** Absent where this place keeps no half files. */
  readonly resumable?: (name: string, as: Resumption) => Promise<ResumableDraft>;
  /** Takes away what was left in `folder` by drafts whose ids begin so. */
  readonly dropResumable?: (folder: string, ids: string) => Promise<void>;
}
