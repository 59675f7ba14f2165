// A GPU of this machine, on which programs run one after another. A program outlives the service: the folder
// of its try and the mark of its processes tell a later service what became of it.
//
//      created ──claimed by the shim──▶ running ──exit-<code>──▶ its processes are ended ──▶ ended
//         │                                │
//         └──forbidden by a service        └──no process, no exit: lost, and executed again──▶
//
// A try of a program that stays is claimed for its process, and ends with the answer (staying-programs.ts).

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../errors/error.ts';
import { diskOf } from '../../../host/disk-space.ts';
import { editIn } from '../../../host/settings/named-program.ts';
import {
  Unreachable,
  inputsIn,
  taskIn,
  type Backend,
  type Seen,
  type Sent,
  type SocketEvent,
  type Submitted,
  type SentWork,
} from '../backend.ts';
import type { Timing } from '../driving/server-deps.ts';
import type { Program, TaskTarget } from '../target.ts';
import { Endings } from './stopping-processes.ts';
import { InputFiles } from './seat-input-files.ts';
import { SeatLock } from './seat-lock.ts';
import { ROOM_BYTES, SeatTries, seatTries, triesIn } from './seat-tries.ts';
import { SHIM } from './shim.ts';
import { environmentOf, spawnShim } from './spawned-shim.ts';
import { StayingPrograms } from './staying-programs.ts';
import type { TryFolder } from './try-folder.ts';

type SeatSettings = {
  /** The number of the GPU, as CUDA counts. */
  readonly gpu: string;
  /** Holds the folders of tries and the input files of this seat. */
  readonly folder: string;
  /** The values of secrets, by name; undefined for one that no command has passed on. */
  readonly secret: (name: string) => string | undefined;
  /** The folder of the locks that all services of this user share; undefined if this service is the only one. */
  readonly locks?: string | undefined;
  readonly timing: Pick<Timing, 'blockedMs' | 'postponedMs' | 'readyMs'>;
};

const NO_ROOM_MS = 30_000;
const TAKEN_MS = 1_000;
/** The service ends a run at its limit; the shim does it somewhat later, if there is no service. */
const SHIM_LIMIT_MORE_S = 15;
const WATCH_MS = 250;
const TIDY_MS = 1_000;
/** A program that stays gives way to another state folder after this time without a run. */
const GIVES_WAY_MS = 2_000;

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
    cancel: (id) => Promise.resolve(seat.tries.cancel(id)),
    forget: (id) => seat.tries.forget(id),
    file: () => Promise.resolve(undefined),
    put: (file) => seat.files.put(file),
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

type ProgramTarget = Extract<TaskTarget, { kind: 'program' }>;

class ProgramSeat {
  readonly files: InputFiles;
  readonly #settings: SeatSettings;
  readonly #lock: SeatLock | undefined;
  readonly #staying: StayingPrograms;
  readonly tries: SeatTries;
  readonly #endings = new Endings(() => this.#on({ kind: 'changed' }));
  /** Programs that cannot run now, until when. */
  readonly #broken = new Map<string, { readonly reason: string; readonly until: number }>();
  #tidiedAt = 0;
  #on: (event: SocketEvent) => void = () => undefined;

  constructor(settings: SeatSettings) {
    const { gpu, secret, folder, locks, timing } = settings;
    this.#settings = settings;
    this.files = new InputFiles(join(folder, 'inputs'));
    if (locks !== undefined) this.#lock = new SeatLock(locks, gpu);
    const tries = triesIn(folder);
    mkdirSync(tries, { recursive: true, mode: 0o700 });
    this.#staying = new StayingPrograms({
      gpu,
      secret,
      folder: join(folder, 'staying'),
      tries,
      take: async (path) => this.#lock?.take(path),
      endings: this.#endings,
      readyMs: timing.readyMs,
      folders: () => seatTries(folder).map((each) => each.folder),
      answered: () => this.#watch(),
      ended: () => this.#on({ kind: 'changed' }),
    });
    this.tries = new SeatTries({
      folder,
      timing,
      endings: this.#endings,
      staying: this.#staying,
      tell: (event) => this.#on(event),
      broken: (program, reason) => this.#block(program, reason),
    });
  }

  listen(on: (event: SocketEvent) => void): ReturnType<NonNullable<Backend['listen']>> {
    this.#on = on;
    // Programs that an earlier service started have no exit event here.
    const timer = setInterval(() => this.#watch(), WATCH_MS).unref();
    return { isAlive: () => Promise.resolve(false), close: () => clearInterval(timer) };
  }

  close(): void {
    this.#on = () => undefined;
    this.#staying.close();
    this.#lock?.close();
  }

  #watch(): void {
    const isNews = this.#staying.look();
    if (this.tries.takeNews() || isNews) this.#on({ kind: 'changed' });
    if (performance.now() - this.#tidiedAt < TIDY_MS) return;
    this.#tidiedAt = performance.now();
    this.#staying.tidy();
    if (this.#staying.idleMs > GIVES_WAY_MS && this.#lock?.isWished() === true) this.#staying.release();
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

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const { id, tries = 1 } = run;
    const { target, timeLimitMs } = taskIn('program', run);
    const { inputs } = inputsIn(work);
    const folder = this.tries.open(id, tries, target.id);
    try {
      const busy = await this.#obstacle(target);
      if (busy !== undefined) return busy;
      const limitSeconds = Math.ceil(timeLimitMs / 1_000) + SHIM_LIMIT_MORE_S;
      if (target.program.stays === true) {
        this.#staying.send(folder, inputs, limitSeconds);
        return { kind: 'accepted' };
      }
      folder.create(inputs);
      const holder = await this.#lock?.take(folder.path);
      if (holder !== undefined) {
        this.#withdraw(folder);
        return this.#taken(holder);
      }
      await this.#begin(folder, id, target.program, limitSeconds);
      return { kind: 'accepted' };
    } catch (error) {
      this.#withdraw(folder);
      throw new Unreachable(`the program cannot be started: ${errorMessage(error)}`, { cause: error });
    }
  }

  #withdraw(folder: TryFolder): void {
    if (folder.isThere) folder.forbid();
    this.#staying.withdraw(folder.mark);
    folder.remove();
  }

  /** Why no run of the program may begin now. */
  async #obstacle(target: ProgramTarget): Promise<Submitted | undefined> {
    // The script may have been edited while the run waited.
    const misfit = this.misfit(target);
    const { blockedMs, postponedMs } = this.#settings.timing;
    if (misfit !== undefined) return { kind: 'busy', afterMs: blockedMs, reason: misfit };
    const { free } = await diskOf(this.#settings.folder);
    if (free < ROOM_BYTES)
      return {
        kind: 'busy',
        why: 'full',
        afterMs: NO_ROOM_MS,
        reason: `only ${free >> 20} MB are free on the disk of ${this.#settings.folder}`,
      };
    const key = target.program.stays === true ? this.#keyOf(target) : undefined;
    const before = await this.#staying.vacate(key);
    if (before !== undefined) return { kind: 'busy', afterMs: 0, reason: before };
    if (key === undefined) return undefined;
    const next = await this.#staying.prepare(target.id, key, target.program);
    if (next.kind === 'ready') return undefined;
    if (next.kind === 'taken') return this.#taken(next.holder);
    if (next.kind === 'blocked') this.#block(target.id, next.reason);
    const afterMs = next.kind === 'blocked' ? blockedMs : next.kind === 'postponed' ? postponedMs : 0;
    return {
      kind: 'busy',
      afterMs,
      reason: next.kind === 'gone' ? 'the program is started again' : next.reason,
    };
  }

  /** Includes the values of secrets, because a process keeps the environment that it began with. */
  #keyOf({ id, program }: ProgramTarget): string {
    return JSON.stringify([id, program.secrets.map((name) => this.#settings.secret(name))]);
  }

  #taken(holder: string): Submitted {
    const reason = `a program of another state folder runs on GPU ${this.#settings.gpu}: ${holder}`;
    return { kind: 'busy', why: 'full', afterMs: TAKEN_MS, reason };
  }

  async #begin(folder: TryFolder, run: string, program: Program, limitSeconds: number): Promise<void> {
    const env = {
      ...environmentOf(program, this.#settings),
      RUNSHEET_INPUT: folder.inputFile,
      RUNSHEET_LIMIT: String(limitSeconds),
      RUNSHEET_OUTPUT: folder.output,
      RUNSHEET_RUN: run,
      RUNSHEET_TRY: folder.mark,
    };
    this.tries.shims.add(folder.mark);
    const exited = (): void => {
      this.tries.shims.delete(folder.mark);
      this.#on({ kind: 'changed' });
    };
    await spawnShim({ script: SHIM, path: folder.path, env, exited });
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const states = new Map<string, Seen>(runs.map(({ id }) => [id, { at: 'absent' }]));
    const wanted = new Map(runs.map((run) => [run.id, run]));
    for (const { id, tries, folder } of this.tries.all()) {
      const own = wanted.get(id);
      const isOld = own?.tries !== undefined && own.tries !== tries;
      const state = await this.tries.seenIn(folder);
      // A process of an earlier try must not share the GPU with the current one.
      if (isOld && state.at !== 'ended') void this.tries.end(folder);
      if (!isOld) states.set(id, state);
    }
    return states;
  }

  #block(program: string, reason: string): void {
    this.#broken.set(program, { reason, until: performance.now() + this.#settings.timing.blockedMs });
  }
}
