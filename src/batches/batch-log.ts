// The log of what commands have made in a folder of batches: numbered entries, each created once. The creation of an entry is the moment
// at which a batch, or a pass with more rows, exists.
//
//   prepared ──no entry after the position has its rows──▶ entry n + 1 is created ──▶ the file of the entry is written
//      ▲            │ an entry has some                        │ another command was faster
//      └─ compared ─┘◀─────────── its entry is read ◀──────────┘
//
// No clock decides: whoever creates entry n + 1 has read all entries up to n. An entry contains the text of its file, and whoever reads
// the newest entry writes the file if it is missing, so a command that is killed between the two loses nothing. Entries stay: a command
// that waits for its user for days reads on from where it began.

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../errors/outside-text.ts';
import { placeIn } from '../batch/state/lanes.ts';
import { queueNameOf } from '../sheet/placed-rows.ts';
import {
  BATCH_FILE,
  lastNumber,
  LAYOUT,
  layoutOf,
  readBatchFile,
  readBatchText,
} from '../store/batch-file.ts';
import { locationOf, openBatchFolder, type BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { isPassName, newestPass, numberOfPass, passIn } from '../store/passes.ts';
import type { Store } from '../store/store.ts';

export const MADE = '.made';

const nameOf = (number: number): string => `${MADE}/${String(number).padStart(6, '0')}.json`;

/** `id`: of the command that created it. */
const schema = z.object({
  id: z.string(),
  mark: z.string(),
  batch: z.string().refine((name) => !name.includes('/') && !name.startsWith('.')),
  file: z.string().refine((name) => name === BATCH_FILE || isPassName(name)),
  text: z.string(),
});

export type Entry = Readonly<z.infer<typeof schema>>;

/** A file whose creation makes a batch, or rows of a batch, exist. */
export type Creation = Omit<Entry, 'id'>;

/** How a command decides before it creates its entry. */
type Deciding = {
  /** Whether what was made meanwhile has rows of this command. */
  readonly isOvertaken: (entries: readonly (Entry | undefined)[]) => Promise<boolean>;
  /** Whether nobody has made the file yet; asked after all entries were read. */
  readonly checkFree: () => Promise<boolean>;
  /** Called if the file may come to exist although its creation failed. */
  readonly onDoubt?: (() => void) | undefined;
};

export type Committed = 'made' | 'taken' | 'overtaken';

export class MadeLog {
  readonly #out: string;
  readonly #store: Store;
  readonly #open: (location: string) => Store;

  constructor(out: string, open = openStore) {
    [this.#out, this.#store, this.#open] = [out, open(out), open];
  }

  /** Makes the file exist, unless it does already, or something was made since the position that has rows of it. */
  async commit(position: number, creation: Creation, deciding: Deciding): Promise<Committed> {
    const entry: Entry = { ...creation, id: randomBytes(8).toString('hex') };
    // Each further turn means that another command has made something.
    for (let at = position; ;) {
      const entries = await this.#after(at);
      at += entries.length;
      if (await deciding.isOvertaken(entries)) return 'overtaken';
      if (!(await deciding.checkFree())) return 'taken';
      try {
        if (await this.#add(at, entry)) return 'made';
      } catch (error) {
        if (await this.#mayHave(at, entry)) deciding.onDoubt?.();
        throw error;
      }
    }
  }

  /** The number of the newest entry, whose file exists now; 0 if there is none. A listing that is late means reading on. */
  async position(): Promise<number> {
    const newest = await lastNumber(this.#store, MADE);
    const entry = newest === 0 ? undefined : await this.#read(newest);
    if (entry !== undefined) await this.#complete(entry);
    return newest;
  }

  /** The entries after a position, `undefined` for each that this version cannot read. The file of the newest one exists now. */
  async #after(position: number): Promise<readonly (Entry | undefined)[]> {
    const entries: (Entry | undefined)[] = [];
    for (let number = position + 1; ; number += 1) {
      const text = await this.#store.read(nameOf(number));
      if (text === undefined) break;
      entries.push(schema.safeParse(jsonIn(text)).data);
    }
    const newest = entries.at(-1);
    if (newest !== undefined) await this.#complete(newest);
    return entries;
  }

  /** Creates the entry after a position, and its file; false if another command was faster. */
  async #add(position: number, entry: Entry): Promise<boolean> {
    if (!(await this.#createSurely(position + 1, entry))) return false;
    await this.#store.create(`${entry.batch}/${entry.file}`, entry.text);
    return true;
  }

  /** Whether the log may have this entry after a position; true even if it cannot be read. */
  async #mayHave(position: number, { id }: Entry): Promise<boolean> {
    const entries = await this.#after(position).catch(() => undefined);
    return entries === undefined || entries.some((entry) => entry?.id === id);
  }

  /** The batch that an entry has made, or to which it has added rows; undefined if it is gone. */
  async batchOf({ batch, file, mark, text }: Entry): Promise<BatchFolder | undefined> {
    const folder = locationOf(this.#out, batch);
    if (file !== BATCH_FILE) {
      const extended = await openBatchFolder(this.#out, batch);
      return extended?.file.mark === mark ? extended : undefined;
    }
    const made = readBatchText(text);
    return made?.mark === mark ? { batch, folder, file: made, store: this.#open(folder) } : undefined;
  }

  /** A store may refuse a creation, or fail, although it took effect. */
  async #createSurely(number: number, entry: Entry): Promise<boolean> {
    const isOwn = async (): Promise<boolean> => (await this.#read(number))?.id === entry.id;
    try {
      return (await this.#store.create(nameOf(number), JSON.stringify(entry))) || (await isOwn());
    } catch (error) {
      if (await isOwn().catch(() => false)) return true;
      throw error;
    }
  }

  async #read(number: number): Promise<Entry | undefined> {
    return schema.safeParse(jsonIn((await this.#store.read(nameOf(number))) ?? '')).data;
  }

  async #complete(entry: Entry): Promise<void> {
    const store = this.#open(locationOf(this.#out, entry.batch));
    if (!(await store.exists(entry.file)) && (await isPrepared(store, entry)))
      await store.create(entry.file, entry.text);
  }
}

/** A batch that its user has removed, moved or put back from a backup does not get what it had. */
async function isPrepared(store: Store, { file, mark, text }: Entry): Promise<boolean> {
  if (file === BATCH_FILE) return (await store.folders(LAYOUT)).includes(mark);
  const batch = await readBatchFile(store).catch(() => undefined);
  if (batch?.mark !== mark || (await newestPass(store)) !== numberOfPass(file) - 1) return false;
  const layout = layoutOf(store, batch);
  for (const { lane, first } of passIn(text)?.segments ?? [])
    if (!(await layout.exists(queueNameOf(placeIn(lane, first))))) return false;
  return true;
}
