// A GPU of this machine, on which programs run one after another. A program outlives the service: the folder
// of its try and the mark of its processes tell a later service what became of it.
//
//      created ──claimed by the shim──▶ running ──exit-<code>──▶ its processes are ended ──▶ ended
//         │                                │
//         └──forbidden by a service        └──no process, no exit: lost, and executed again──▶

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../../errors/error.ts';
import { diskOf } from '../../../../host/disk-space.ts';
import { editIn } from '../../../../host/named-program.ts';
import {
  Unreachable,
  inputsIn,
  type Backend,
  type RunEnd,
  type Seen,
  type Sent,
  type SocketEvent,
  type Submitted,
  type SentWork,
} from '../backend.ts';
import type { Timing } from '../server-deps.ts';
import type { Program, TaskTarget } from '../target.ts';
import { endProcesses, processesOf } from './marked-processes.ts';
import { outputFaults } from './output-faults.ts';
import { SeatLock } from './seat-lock.ts';
import { SHIM } from './shim.ts';
import { TryFolder } from './try-folder.ts';

type SeatSettings = {
  /** The number of the GPU, as CUDA counts. */
  readonly gpu: string;
  /** Holds the folders of tries and the input files of this seat. */
  readonly folder: string;
  /** The values of secrets, by name; undefined for one that no command has passed on. */
  readonly secret: (name: string) => string | undefined;
  /** The folder of the locks that all services of this user share; undefined if this service is the only one. */
  readonly locks?: string | undefined;
  readonly timing: Pick<Timing, 'blockedMs' | 'postponedMs'>;
};

/** A seat starts no program below this. */
const ROOM_BYTES = 1 << 30;
const NO_ROOM_MS = 30_000;
const TAKEN_MS = 1_000;
/** The service ends a run at its limit; the shim does it somewhat later, if there is no service. */
const SHIM_LIMIT_MORE_S = 15;
const WATCH_MS = 250;

export function openProgramSeat(settings: SeatSettings): Backend {
  const seat = new ProgramSeat(settings);
  return {
    kind: 'gpu',
    guarantee: { lost: 'asked', gone: 'again' },
    seats: { kind: 'given', count: 1 },
    describe: async () => ({ version: 'programs', gpu: await gpuName(settings.gpu) }),
    misfit: (target) => seat.misfit(target),
    submit: (run, work) => seat.submit(run, work),
    poll: (runs) => seat.poll(runs),
    cancel: (id) => seat.cancel(id),
    forget: (id) => seat.forget(id),
    file: () => Promise.resolve(undefined),
    put: (file) => seat.put(file),
    listen: (on) => seat.listen(on),
    close: () => Promise.resolve(seat.close()),
  };
}

/** The common name of a GPU as the driver tells it. */
async function gpuName(gpu: string): Promise<string> {
  const query = ['--query-gpu=name', '--format=csv,noheader', '-i', gpu];
  const { stdout } = await promisify(execFile)('nvidia-smi', query, { timeout: 10_000 }).catch(() => ({
    stdout: '',
  }));
  return stdout.trim().replace(/^NVIDIA\s+(?:GeForce\s+)?/, '') || `GPU ${gpu}`;
}

class ProgramSeat {
  readonly #settings: SeatSettings;
  readonly #lock: SeatLock | undefined;
  readonly #tries: string;
  readonly #files: string;
  /** The tries whose processes are being ended; true once none is left. */
  readonly #endings = new Map<string, { isDone: boolean; readonly ended: Promise<void> }>();
  /** The tries whose shim this service has started and not seen exit. */
  readonly #shims = new Set<string>();
  /** Programs whose command could not be executed, until when. */
  readonly #broken = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #progress = new Map<string, number>();
  /** The ends of tries, whose files are read once. */
  readonly #ends = new Map<string, Promise<RunEnd>>();
  /** The program of each try that this service has started. */
  readonly #programs = new Map<string, string>();
  #on: (event: SocketEvent) => void = () => undefined;

  constructor(settings: SeatSettings) {
    this.#settings = settings;
    this.#tries = join(settings.folder, 'tries');
    this.#files = join(settings.folder, 'inputs');
    if (settings.locks !== undefined) this.#lock = new SeatLock(settings.locks, settings.gpu);
    for (const folder of [this.#tries, this.#files]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    dropOldFiles(this.#files);
  }

  listen(on: (event: SocketEvent) => void): ReturnType<Backend['listen']> {
    this.#on = on;
    // Programs that an earlier service started have no exit event here.
    const timer = setInterval(() => this.#watch(), WATCH_MS).unref();
    return { isAlive: () => Promise.resolve(false), close: () => clearInterval(timer) };
  }

  close(): void {
    this.#on = () => undefined;
    this.#lock?.close();
  }

  #watch(): void {
    for (const { folder } of this.#all()) {
      const isNews = folder.exit !== undefined && !this.#endings.has(folder.mark);
      if (isNews) this.#on({ kind: 'changed' });
    }
  }

  /** The folders of all tries of this seat. */
  #all(): readonly { readonly id: string; readonly tries: number; readonly folder: TryFolder }[] {
    // Somebody may have removed the folder by hand.
    mkdirSync(this.#tries, { recursive: true, mode: 0o700 });
    return readdirSync(this.#tries).flatMap((mark) => {
      const [, id, tries] = /^([\w-]+)\.(\d+)$/.exec(mark) ?? [];
      if (id === undefined) return [];
      const folder = new TryFolder(this.#tries, mark);
      // Without `open`, the service stopped while it created the folder.
      return folder.isThere ? [{ id, tries: Number(tries), folder }] : [];
    });
  }

  misfit(target: TaskTarget): string | undefined {
    if (target.kind !== 'program') return undefined;
    const broken = this.#broken.get(target.id);
    if (broken !== undefined && performance.now() < broken.until) return broken.reason;
    const absent = target.program.secrets.find((name) => this.#settings.secret(name) === undefined);
    if (absent !== undefined)
      return `${target.name} needs ${absent}, which is not kept: give the command again where ${absent} is set`;
    const edit = editIn(target.program.files);
    return edit && `${edit}: give the command again to run the new version, or put the file back`;
  }

  async submit({ id, tries = 1 }: Sent, sent: SentWork): Promise<Submitted> {
    const { target, inputs, timeLimitMs } = inputsIn(sent);
    if (target.kind !== 'program') return { kind: 'refused', reason: `${target.name} is no program` };
    // The script may have been edited while the run waited.
    const misfit = this.misfit(target);
    if (misfit !== undefined)
      return { kind: 'busy', afterMs: this.#settings.timing.blockedMs, reason: misfit };
    const { free } = await diskOf(this.#settings.folder);
    if (free < ROOM_BYTES)
      return {
        kind: 'busy',
        why: 'full',
        afterMs: NO_ROOM_MS,
        reason: `only ${free >> 20} MB are free on the disk of ${this.#settings.folder}`,
      };
    const folder = new TryFolder(this.#tries, `${id}.${tries}`);
    this.#programs.set(folder.mark, target.id);
    try {
      folder.create(inputs);
      const holder = await this.#lock?.take(folder.path);
      if (holder !== undefined) return this.#taken(folder, holder);
      await this.#begin(folder, id, target.program, timeLimitMs);
      return { kind: 'accepted' };
    } catch (error) {
      folder.forbid();
      folder.remove();
      throw new Unreachable(`the program cannot be started: ${errorMessage(error)}`, { cause: error });
    }
  }

  #taken(folder: TryFolder, holder: string): Submitted {
    folder.forbid();
    folder.remove();
    const reason = `a program of another state folder runs on GPU ${this.#settings.gpu}: ${holder}`;
    return { kind: 'busy', why: 'full', afterMs: TAKEN_MS, reason };
  }

  /** Starts the shim in a session of its own, which no signal to the service reaches. */
  async #begin(folder: TryFolder, run: string, program: Program, timeLimitMs: number): Promise<void> {
    const { gpu, secret } = this.#settings;
    const secrets = program.secrets.map((name) => [name, secret(name) ?? ''] as const);
    const shim = spawn('/bin/sh', ['-c', SHIM, 'runsheet', folder.path], {
      cwd: folder.path,
      detached: true,
      stdio: 'ignore',
      env: {
        ...program.environment,
        ...Object.fromEntries(secrets),
        CUDA_VISIBLE_DEVICES: gpu,
        RUNSHEET_COMMAND: program.command,
        RUNSHEET_FOLDER: program.folder,
        RUNSHEET_GPU: gpu,
        RUNSHEET_INPUT: folder.inputFile,
        RUNSHEET_LIMIT: String(Math.ceil(timeLimitMs / 1_000) + SHIM_LIMIT_MORE_S),
        RUNSHEET_OUTPUT: folder.output,
        RUNSHEET_RUN: run,
        RUNSHEET_TRY: folder.mark,
      },
    });
    this.#shims.add(folder.mark);
    const spawned = Promise.withResolvers<void>();
    shim.once('spawn', () => spawned.resolve());
    shim.once('error', (error) => {
      this.#shims.delete(folder.mark);
      spawned.reject(error);
    });
    shim.once('exit', () => {
      this.#shims.delete(folder.mark);
      this.#on({ kind: 'changed' });
    });
    shim.unref();
    await spawned.promise;
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const states = new Map<string, Seen>(runs.map(({ id }) => [id, { at: 'absent' }]));
    const wanted = new Map(runs.map((run) => [run.id, run]));
    for (const { id, tries, folder } of this.#all()) {
      const own = wanted.get(id);
      const isOld = own?.tries !== undefined && own.tries !== tries;
      const state = await this.#seenIn(folder);
      // A process of an earlier try must not share the GPU with the current one.
      if (isOld && state.at !== 'ended') void this.#end(folder);
      if (!isOld) states.set(id, state);
    }
    return states;
  }

  async #seenIn(folder: TryFolder): Promise<Seen> {
    const before = folder.exit;
    if (before === undefined && (await this.#isAlive(folder))) {
      this.#tellProgress(folder);
      return { at: 'running' };
    }
    // The program may have exited between the two looks.
    const exit = before ?? folder.exit;
    if (exit === undefined && !folder.isAtLimit) return this.#lost(folder);
    if (!this.#isEnded(folder)) return { at: 'running' };
    return { at: 'ended', end: await this.#endOnce(folder) };
  }

  async #isAlive(folder: TryFolder): Promise<boolean> {
    return this.#shims.has(folder.mark) || (await processesOf(folder.mark)).length > 0;
  }

  /** Nothing of the try lives and it has no exit. */
  #lost(folder: TryFolder): Seen {
    // A shim that begins at this moment wins.
    if (!folder.forbid() && folder.exit !== undefined) return { at: 'running' };
    return folder.isClaimed ? { at: 'absent', hasBegun: true } : { at: 'absent' };
  }

  /** Ends whatever a program has left behind; true once nothing is left. */
  #isEnded(folder: TryFolder): boolean {
    if (!this.#endings.has(folder.mark)) void this.#end(folder);
    return this.#endings.get(folder.mark)?.isDone === true;
  }

  #end(folder: TryFolder): Promise<void> {
    const before = this.#endings.get(folder.mark);
    if (before !== undefined) return before.ended;
    folder.forbid();
    const ended = endProcesses(folder.mark).then(() => {
      ending.isDone = true;
      this.#on({ kind: 'changed' });
    });
    const ending = { isDone: false, ended };
    this.#endings.set(folder.mark, ending);
    return ended;
  }

  #endOnce(folder: TryFolder): Promise<RunEnd> {
    const end = this.#ends.get(folder.mark) ?? this.#endOf(folder);
    this.#ends.set(folder.mark, end);
    return end;
  }

  async #endOf(folder: TryFolder): Promise<RunEnd> {
    const { exit, beganMs } = folder;
    const ranMs = exit && beganMs !== undefined ? Math.max(0, exit.atMs - beganMs) : undefined;
    if (folder.isAtLimit || exit === undefined) return { status: 'timeout', ranMs };
    const [last = ''] = folder.lastLines(1);
    const reason = `${codeText(exit.code)}${last === '' ? '' : `: ${last}`}`;
    if (exit.code === 75)
      return {
        status: 'postponed',
        ranMs,
        afterMs: this.#settings.timing.postponedMs,
        reason: `the program asks to be started again later${last === '' ? '' : `: ${last}`}`,
      };
    if (exit.code === 126 || exit.code === 127) return this.#brokenBy(folder, reason, ranMs);
    if (exit.code !== 0) return { status: 'failed', ranMs, reason: await this.#withDisk(reason) };
    try {
      const files = folder.files(exit.atMs);
      const fault = await outputFaults(files);
      if (fault !== undefined) return { status: 'failed', ranMs, reason: fault };
      return {
        status: 'success',
        ranMs,
        made: [
          {
            node: '',
            key: 'files',
            texts: [],
            files: files.map(({ filename, path }) => ({ filename, path, subfolder: '', type: 'output' })),
          },
        ],
      };
    } catch (error) {
      return { status: 'failed', ranMs, reason: errorMessage(error) };
    }
  }

  /** The command itself cannot be executed, which is no fault of the row. */
  #brokenBy(folder: TryFolder, reason: string, ranMs: number | undefined): RunEnd {
    const program = this.#programs.get(folder.mark);
    const { blockedMs } = this.#settings.timing;
    if (program !== undefined) this.#broken.set(program, { reason, until: performance.now() + blockedMs });
    return { status: 'postponed', ranMs, afterMs: blockedMs, reason };
  }

  async #withDisk(reason: string): Promise<string> {
    const { free } = await diskOf(this.#settings.folder);
    return free < ROOM_BYTES ? `${reason} (only ${free >> 20} MB are free on the disk)` : reason;
  }

  #tellProgress(folder: TryFolder): void {
    folder.cutLog();
    const progress = folder.progress();
    if (progress === undefined || this.#progress.get(folder.mark) === progress) return;
    this.#progress.set(folder.mark, progress);
    const [id = ''] = folder.mark.split('.');
    this.#on({ kind: 'work', id, node: undefined, progress });
  }

  cancel(id: string): Promise<void> {
    for (const { folder } of this.#ofRun(id)) void this.#end(folder);
    return Promise.resolve();
  }

  #ofRun = (id: string) => this.#all().filter((each) => each.id === id);

  /** The folders stay until nothing writes into them any more. */
  forget(id: string): void {
    for (const { folder } of this.#ofRun(id)) void this.#end(folder).then(() => this.#remove(folder));
  }

  #remove(folder: TryFolder): void {
    // A call that did not wait for the end must not remove the folder of a living program.
    if (this.#endings.get(folder.mark)?.isDone !== true) return;
    for (const noted of [this.#endings, this.#ends, this.#progress, this.#programs])
      noted.delete(folder.mark);
    folder.remove();
  }

  async put({ name, content }: { readonly name: string; readonly content: Blob }): Promise<string> {
    const path = join(this.#files, name);
    await writeFile(`${path}.part`, content.stream(), { mode: 0o600 });
    await rename(`${path}.part`, path);
    return path;
  }
}

/** Input files are written again for each run; no run of a program takes this long. */
const KEEPS_INPUTS_MS = 7 * 86_400_000;

function dropOldFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > KEEPS_INPUTS_MS) rmSync(path, { force: true });
  }
}

const SIGNALS: Readonly<Record<number, string>> = {
  9: 'often: out of memory',
  11: 'it crashed',
  6: 'it aborted',
};

/** The shell reports a program that a signal ended as 128 and the number of the signal. */
function codeText(code: number): string {
  if (code <= 128) return `the program exited with ${code}`;
  const signal = code - 128;
  const why = SIGNALS[signal];
  return `the program was ended by signal ${signal}${why === undefined ? '' : ` (${why})`}`;
}
