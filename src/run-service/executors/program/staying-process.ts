// A process that stays, as the service that started it knows it. Only this service holds its standard input:
// when the service ends, the input ends, and the program finishes its run, answers and exits.

import { watch, type FSWatcher } from 'node:fs';
import type { Writable } from 'node:stream';
import { PYTHON_FOLDER } from '../../../host/python-folder.ts';
import type { Program } from '../target.ts';
import { environmentOf, spawnShim } from './spawned-shim.ts';
import type { StayingFolder } from './staying-folder.ts';
import { STAYING_SHIM } from './staying-shim.ts';

export type StayingStart = {
  readonly folder: StayingFolder;
  /** The folder of the tries of the seat. */
  readonly tries: string;
  readonly program: Program;
  /** Equal for two runs that one process may execute. */
  readonly key: string;
  readonly gpu: string;
  readonly secret: (name: string) => string | undefined;
  /** Called when an answer may be there. */
  readonly answered: () => void;
  /** Called when the shim has ended. */
  readonly ended: () => void;
};

export class StayingProcess {
  readonly folder: StayingFolder;
  readonly key: string;
  /** The try whose answer is missing. */
  inHand: string | undefined;
  hasShim = true;
  #isReady = false;
  #idleSince = 0;
  readonly #since = performance.now();
  readonly #input: Writable | undefined;
  readonly #watcher: FSWatcher | undefined;

  private constructor({ folder, key }: StayingStart, input: Writable | undefined, watcher?: FSWatcher) {
    [this.folder, this.key, this.#input, this.#watcher] = [folder, key, input, watcher];
  }

  static async start(start: StayingStart): Promise<StayingProcess> {
    const { folder, tries, program, answered, ended } = start;
    const { PYTHONPATH } = program.environment;
    const env = {
      ...environmentOf(program, start),
      PYTHONPATH: [PYTHON_FOLDER, PYTHONPATH].filter(Boolean).join(':'),
      RUNSHEET_ANSWERS: folder.answerFile,
      RUNSHEET_TRIES: tries,
      RUNSHEET_TRY: folder.mark,
    };
    let hasShim = true;
    const exited = (): void => {
      hasShim = false;
      if (process !== undefined) process.hasShim = false;
      ended();
    };
    let process: StayingProcess | undefined;
    const input = await spawnShim({ script: STAYING_SHIM, path: folder.path, env, exited }, true);
    process = new StayingProcess(start, input, watched(folder.answerFile, answered));
    process.hasShim = hasShim;
    return process;
  }

  get forMs(): number {
    return performance.now() - this.#since;
  }

  /** Gives the program a try whose folder is complete. */
  send(mark: string, limitSeconds: number): void {
    this.inHand = mark;
    this.folder.setTimer(mark, limitSeconds);
    this.#input?.write(`${mark}\n`);
  }

  /** Takes back a try that the program will never get. */
  withdraw(mark: string): void {
    if (this.inHand === mark) this.#rest();
  }

  #rest(): void {
    [this.#isReady, this.inHand, this.#idleSince] = [true, undefined, performance.now()];
    this.folder.noteIdle();
  }

  /** Reads the answers; true if the program has become ready, or has answered its run. */
  look(): boolean {
    const { answers } = this.folder;
    answers.read();
    const isDone = this.inHand === undefined ? !this.#isReady : answers.to(this.inHand) !== undefined;
    if (!isDone || !answers.isReady) return false;
    this.#rest();
    return true;
  }

  /** How long the program has been waiting for a run. */
  get idleMs(): number {
    return this.#isReady && this.inHand === undefined ? performance.now() - this.#idleSince : 0;
  }

  /** The program finishes its run and exits. */
  closeInput(): void {
    this.#watcher?.close();
    this.#input?.end();
  }
}

/** A notice comes sooner than the next look; without one, the look suffices. */
function watched(file: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(file, { persistent: false }, changed).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
