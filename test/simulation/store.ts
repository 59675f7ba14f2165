// Simulates the batch folder: parts are never overwritten, the disk is sometimes full, and some writes succeed but report an error. Real
// code reads and writes it as a store of texts.

import type { Readable } from 'node:stream';
import type { RunCost } from '../../src/batch/events.ts';
import type { Tally } from '../../src/batch/accounting/tally.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import type { Outcome, AttemptRun } from '../../src/batch/outcome.ts';
import type { Execution } from '../../src/batch/workflow-ids.ts';
import { jsonIn } from '../../src/errors/outside-text.ts';
import { partIn, partName, PARTS } from '../../src/results/parts.ts';
import { sealOf, type PartNumber } from '../../src/results/parts-seal.ts';
import { evidenceName, eventsName } from '../../src/store/batch-file.ts';
import { jsonLines } from '../../src/store/pieces.ts';
import { continuedName } from '../../src/store/passes.ts';
import { STARTED_FILE, type StartedFile } from '../../src/store/started.ts';
import type { Store } from '../../src/store/store.ts';
import type { World } from './world.ts';

export type SimRecord = { readonly end: EndedRow; readonly outcome: Outcome };
export type SimPart = PartNumber & {
  readonly rows: readonly SimRecord[];
  readonly tally: Tally;
  readonly fetched: number;
  readonly unpriced: readonly number[];
  readonly unpricedRungs: readonly number[];
  readonly costs?: readonly RunCost[];
  /** How many of its rows had an outcome before. */
  readonly again: number;
};

export class SimStore {
  readonly evidence = new Map<string, AttemptRun>();
  /** Runs that ended after the close. */
  readonly late = new Set<string>();
  /** The runs that the close reported as duplicates. */
  duplicates: ReadonlySet<string> | undefined;
  /** Whether the close has read the lists to their end. */
  areListsWhole = true;
  /** The state that the close wrote, from which a later pass continues. */
  closed = '';
  /** Called with the name of each file that real code has created or changed. */
  onChange: (name: string) => void = () => undefined;
  started: StartedFile | undefined;
  /** The pass through which the batch has ended by its summary. */
  summarizedPass = 0;
  readonly #world: World;
  readonly #files = new Map<string, string>();
  readonly #parts = new Map<string, SimPart>();
  #isCounted: (part: PartNumber) => boolean = () => true;

  constructor(world: World) {
    this.#world = world;
  }

  /** The parts that count, in the order in which they were written. */
  get parts(): readonly SimPart[] {
    return [...this.#parts.values()].filter(this.#isCounted);
  }

  /** Parts that an execution wrote after another one had sealed the parts before. */
  get strays(): readonly SimPart[] {
    return [...this.#parts.values()].filter((part) => !this.#isCounted(part));
  }

  /** The run, or the rebuild, that continues the end of this pass. */
  runAfter(pass: number): Execution | undefined {
    return jsonIn(this.#files.get(continuedName(pass)) ?? '') as Execution | undefined;
  }

  /** Throws if the disk is full, or after a write that reports an error. */
  write(work: () => void): void {
    if (this.#world.shouldInject('fullDisk')) throw new Error('ENOSPC');
    work();
    if (this.#world.shouldInject('lostWrite')) throw new Error('EIO');
  }

  /** Creates a part unless it exists, and returns the existing one. `textOf`: as real code reads it. */
  createPart(part: SimPart, textOf: () => string): SimPart {
    const name = partName(part.pass, part.part);
    const before = this.#parts.get(name);
    if (before !== undefined) {
      this.#world.saw('a part that existed');
      return before;
    }
    this.write(() => {
      this.#files.set(name, textOf());
      this.#parts.set(name, part);
    });
    return part;
  }

  keepEvidence(number: number, runs: readonly AttemptRun[]): void {
    this.write(() => {
      for (const run of runs) this.evidence.set(run.runId, run);
      this.#files.set(evidenceName(number), jsonLines(runs));
    });
  }

  keepLog(number: number, entries: readonly unknown[]): void {
    this.write(() => this.#files.set(eventsName(number), jsonLines(entries)));
  }

  /** Writes a file as real code produces it. */
  put(name: string, value: unknown): void {
    this.#files.set(name, `${JSON.stringify(value)}\n`);
    if (name === STARTED_FILE) this.#noteStarted();
    this.onChange(name);
  }

  #noteStarted(): void {
    this.started = JSON.parse(this.#files.get(STARTED_FILE) ?? 'null') as StartedFile;
    void sealOf(this.asStore).then((isCounted) => (this.#isCounted = isCounted));
  }

  #write(name: string, content: string): void {
    this.#files.set(name, content);
    if (name === STARTED_FILE) this.#noteStarted();
    this.onChange(name);
  }

  /** The store as real code knows it, without the methods that the simulation does not use. */
  readonly asStore: Store = {
    location: '/batches/simulated',
    read: async (name: string) => this.#files.get(name),
    exists: async (name: string) => this.#files.has(name),
    open: (name: string) => linesFrom(this.#files.get(name) ?? ''),
    list: async (folder: string) =>
      [...this.#files.keys()]
        .filter((name) => name.startsWith(`${folder}/`))
        .map((name) => name.slice(folder.length + 1))
        .sort(),
    create: async (name: string, content: string) => {
      if (this.#files.has(name)) return false;
      this.#write(name, content);
      return true;
    },
    update: async (name: string, next: (text: string | undefined) => unknown) => {
      const text = await next(this.#files.get(name));
      if (typeof text === 'string') this.#write(name, text);
    },
  } as unknown as Store;

  partNames(): readonly PartNumber[] {
    return [...this.#parts.keys()].map((name) => partIn(name.slice(PARTS.length + 1)));
  }
}

/** A stream whose text is there at once: the time of a world stands still while it is read. */
const linesFrom = (text: string): Readable =>
  ({
    setEncoding: () =>
      (async function* () {
        yield text;
      })(),
  }) as unknown as Readable;
