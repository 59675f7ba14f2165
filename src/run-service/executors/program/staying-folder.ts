// The folder of a process that stays on a GPU and executes one run after another. No two processes share one.
//
//      log, open, go, exit-<code>   as in the folder of a try
//      out/         the working directory
//      in           the pipe to the standard input of the program
//      answers      lines of the program
//      timer        what the program is busy with, and the seconds that it may take
//      limit        what it was busy with when that time was up
//      closed       the input of the program has ended

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../host/replace-file.ts';
import { Answers } from './answers.ts';
import { TryFolder } from './try-folder.ts';

/** The text in `timer` and `limit` of a program that loads. */
const LOADS = 'load';

export class StayingFolder {
  readonly mark: string;
  readonly path: string;
  readonly answers: Answers;
  readonly #process: TryFolder;

  /** `tries`: the folder of the tries that the process executes. */
  constructor(folder: string, mark: string, tries: string) {
    this.#process = new TryFolder(folder, mark);
    [this.mark, this.path] = [mark, this.#process.path];
    this.answers = new Answers(this.answerFile, (id) => existsSync(join(tries, id, `line.${mark}`)));
  }

  get answerFile(): string {
    return join(this.path, 'answers');
  }

  create(loadSeconds: number): void {
    mkdirSync(join(this.path, 'out'), { recursive: true, mode: 0o700 });
    for (const name of ['log', 'answers']) writeFileSync(join(this.path, name), '', { mode: 0o600 });
    this.setTimer(LOADS, loadSeconds);
    writeFileSync(join(this.path, 'open'), '', { mode: 0o600 });
  }

  /** Whoever watches the time starts anew for another text. */
  setTimer(text: string, seconds: number): void {
    // The process may be over, and its folder gone.
    if (!existsSync(this.path)) return;
    // A power loss ends the process, too.
    replaceFile(join(this.path, 'timer'), `${text} ${seconds}\n`, { flush: false });
  }

  noteIdle = (): void => this.setTimer('idle', 0);

  /** The work that the program was busy with when its time was up; undefined if it never was. */
  get limitOf(): string | undefined {
    const file = join(this.path, 'limit');
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  }

  get exitCode(): number | undefined {
    return this.#process.exit?.code;
  }

  get logBytes(): number {
    return this.#process.logBytes;
  }

  lastLine = (since?: number): string => this.#process.lastLines(1, since)[0] ?? '';
  cutLog = (): void => this.#process.cutLog();
  forbid = (): boolean => this.#process.forbid();
  remove = (): void => rmSync(this.path, { recursive: true, force: true });
}
