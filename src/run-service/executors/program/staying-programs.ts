// The processes that stay on a GPU. At most one of them gets runs: the one that this service has started last.
//
//      start ──▶ own ──another program is next──▶ ending ──▶ gone
//                 │
//                 └──its service died: the input has ended──▶ left over ──its run is answered──▶ ending ──▶ gone

import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import type { Program } from '../target.ts';
import type { Endings } from './stopping-processes.ts';
import { processesOf } from './marked-processes.ts';
import { processVerdict, type ProcessVerdict } from './process-verdict.ts';
import { endText } from './run-end.ts';
import { StayingFolder } from './staying-folder.ts';
import { StayingProcess } from './staying-process.ts';
import type { TryFolder } from './try-folder.ts';

type StayingSettings = {
  readonly gpu: string;
  readonly secret: (name: string) => string | undefined;
  /** The folder of the processes that stay. */
  readonly folder: string;
  /** The folder of all tries of the seat. */
  readonly tries: string;
  /** Takes the lock of the GPU for a folder; returns the folder that holds it instead. */
  readonly take: (path: string) => Promise<string | undefined>;
  readonly endings: Endings;
  readonly readyMs: number;
  /** The folders of tries that are there. */
  readonly folders: () => readonly TryFolder[];
  readonly answered: () => void;
  readonly ended: () => void;
};

/** Longer than the time after which the service itself calls a program not ready. */
const LOAD_MORE_S = 15;
/** How long a program may take to exit after the end of its input. */
const EXIT_MS = 5_000;

export type Prepared = ProcessVerdict | { readonly kind: 'taken'; readonly holder: string };

export class StayingPrograms {
  readonly #settings: StayingSettings;
  readonly #folders = new Map<string, StayingFolder>();
  /** How many processes of a program have ended in a row without any answer. */
  readonly #deaths = new Map<string, number>();
  #own: StayingProcess | undefined;

  constructor(settings: StayingSettings) {
    this.#settings = settings;
  }

  /** The folder of a process, with the answers that were read. */
  folder(mark: string): StayingFolder {
    const { folder, tries } = this.#settings;
    const before = this.#folders.get(mark) ?? new StayingFolder(folder, mark, tries);
    this.#folders.set(mark, before);
    return before;
  }

  /** Whether this service gives runs to the process. */
  isOwn = (mark: string): boolean => this.#own?.folder.mark === mark && !this.#isEnding(mark);

  async isAlive(mark: string): Promise<boolean> {
    if (this.#own?.folder.mark === mark && this.#own.hasShim) return true;
    return (await processesOf(mark)).length > 0;
  }

  /** Looks for news of the current process; true if it has become ready, or has answered its run. */
  look(): boolean {
    const own = this.#own;
    if (own === undefined) return false;
    const isNews = own.look();
    own.folder.cutLog();
    if (own.folder.answers.isFlooded) void this.end(own.folder.mark);
    return isNews;
  }

  /** Why another program has to wait; undefined once no process stays here but one with this key. */
  async vacate(key?: string): Promise<string | undefined> {
    if (this.#own !== undefined && this.#own.key !== key) this.release();
    for (const mark of this.#marks()) {
      if (mark === this.#own?.folder.mark || this.#settings.endings.isDone(mark)) continue;
      if (this.#hasRun(mark) && (await this.isAlive(mark)))
        return 'the program of an earlier service finishes its run';
      void this.end(mark, EXIT_MS);
      if ((await processesOf(mark)).length > 0) return 'the program before is being ended';
    }
    return undefined;
  }

  /** Starts the process of a program if necessary, and says whether it may get a run. */
  async prepare(id: string, key: string, program: Program): Promise<Prepared> {
    const own = this.#own;
    if (own === undefined) return this.#start(id, key, program);
    const verdict = await this.#verdict(own, id);
    this.#deaths.set(id, verdict.deaths);
    if (verdict.kind === 'ready' || verdict.kind === 'wait') return verdict;
    // Whatever the process has left behind ends before another one begins.
    this.release();
    return verdict.kind === 'gone'
      ? { ...verdict, kind: 'wait', reason: 'the program is started again' }
      : verdict;
  }

  async #verdict(own: StayingProcess, id: string): Promise<ProcessVerdict> {
    const { endings, readyMs } = this.#settings;
    const { folder, forMs } = own;
    const isAlive = await this.isAlive(folder.mark);
    const { exitCode } = folder;
    own.look();
    return processVerdict({
      isAlive,
      exitCode,
      isEnding: endings.isBegun(folder.mark),
      isReady: folder.answers.isReady,
      isLeaving: folder.answers.isLeaving,
      hasAnswered: folder.answers.count > 0,
      isBusy: own.inHand !== undefined,
      forMs,
      deaths: this.#deaths.get(id) ?? 0,
      readyMs,
      endText: exitCode === undefined ? 'the program was killed' : endText(exitCode, folder.lastLine()),
    });
  }

  async #start(id: string, key: string, program: Program): Promise<Prepared> {
    const { gpu, secret, tries, take, readyMs, answered, ended } = this.#settings;
    const folder = this.folder(`stays-${randomUUID()}`);
    try {
      folder.create(Math.ceil(readyMs / 1_000) + LOAD_MORE_S);
      const holder = await take(folder.path);
      if (holder !== undefined) {
        this.#drop(folder.mark);
        return { kind: 'taken', holder };
      }
      this.#own = await StayingProcess.start({ folder, tries, program, key, gpu, secret, answered, ended });
    } catch (error) {
      folder.forbid();
      this.#drop(folder.mark);
      throw error;
    }
    return { kind: 'wait', reason: 'the program is started', deaths: this.#deaths.get(id) ?? 0 };
  }

  /** Gives a try, whose folder names the current process, to this process. */
  send(folder: TryFolder, inputs: Readonly<Record<string, unknown>>, limitSeconds: number): void {
    const own = this.#own;
    if (own === undefined) throw new Error('no process stays here');
    folder.create(inputs, { process: own.folder.mark, logAt: own.folder.logBytes });
    own.send(folder.mark, limitSeconds);
  }

  /** Ends a process. A run that it has fails by that. */
  end(mark: string, graceMs = 0): Promise<void> {
    this.folder(mark).forbid();
    return this.#settings.endings.end(mark, graceMs);
  }

  /** Takes a forbidden try back from the current process, which stays for the next one. */
  withdraw(mark: string): void {
    this.#own?.withdraw(mark);
  }

  /** Drops the answer to a try whose run is over. */
  forget(process: string, mark: string): void {
    // The current process has its run in hand until its answer is seen here.
    if (this.#own?.folder.mark === process && this.look()) this.#settings.ended();
    this.folder(process).answers.forget(mark);
  }

  /** The process has closed its input, and cannot get the run that it was to have. */
  closed(mark: string): void {
    if (this.#own?.folder.mark === mark) this.#own.inHand = undefined;
    void this.end(mark);
  }

  /** Ends the current process, which has no run. */
  release(): void {
    const own = this.#own;
    if (own === undefined) return;
    own.closeInput();
    void this.end(own.folder.mark, own.folder.answers.isReady ? EXIT_MS : 0);
    this.#own = undefined;
  }

  /** How long the current process has been waiting for a run. */
  get idleMs(): number {
    return this.#own?.idleMs ?? 0;
  }

  /** Ends what earlier services have left without a run, and removes what nobody needs. */
  tidy(): void {
    const { endings, folders } = this.#settings;
    const marks = this.#marks().filter((mark) => mark !== this.#own?.folder.mark);
    if (marks.length === 0) return;
    const needed = new Set(folders().map(({ stays }) => stays?.process));
    for (const mark of marks) {
      if (endings.isDone(mark) && !needed.has(mark)) this.#drop(mark);
      else if (!this.#hasRun(mark)) void this.end(mark, EXIT_MS);
    }
  }

  /** The current process ends once it has answered its run. */
  close(): void {
    this.#own?.closeInput();
  }

  #isEnding = (mark: string): boolean => this.#settings.endings.isBegun(mark);

  /** Whether a try was claimed for the process, or is being claimed, that it has not answered. */
  #hasRun(mark: string): boolean {
    const { answers } = this.folder(mark);
    return this.#settings
      .folders()
      .some(
        (folder) =>
          folder.stays?.process === mark &&
          (folder.claim === 'shim' || folder.claim === 'unknown') &&
          answers.to(folder.mark) === undefined,
      );
  }

  #marks(): readonly string[] {
    const { folder } = this.#settings;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return readdirSync(folder);
  }

  #drop(mark: string): void {
    const folder = this.folder(mark);
    this.#settings.endings.forget(mark);
    this.#folders.delete(mark);
    folder.remove();
  }
}
