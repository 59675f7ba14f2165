// The tries of a seat: what became of each, read from its folder, its processes and its answer.

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { diskOf } from '../../../host/disk-space.ts';
import type { RunEnd, Seen, SocketEvent } from '../backend.ts';
import type { Endings } from './stopping-processes.ts';
import { MARK_NAMES, processesOf } from './marked-processes.ts';
import { endByCode, endByFiles, endText, isBroken } from './run-end.ts';
import type { StayingPrograms } from './staying-programs.ts';
import { TryFolder, type StayingTry } from './try-folder.ts';
import { tryVerdict, type TryVerdict } from './try-verdict.ts';

/** A seat starts no program below this. */
export const ROOM_BYTES = 1 << 30;
/** A shim that takes longer than this from the creation of `go` to its first byte is ended. */
const CLAIM_MS = 5_000;

type TriesSettings = {
  /** The folder of the seat. */
  readonly folder: string;
  readonly endings: Endings;
  readonly staying: StayingPrograms;
  readonly timing: { readonly blockedMs: number; readonly postponedMs: number };
  readonly tell: (event: SocketEvent) => void;
  /** The command of a program cannot be executed. */
  readonly broken: (programId: string, reason: string) => void;
};

type SeatTry = { readonly id: string; readonly tries: number; readonly folder: TryFolder };

export const triesIn = (folder: string): string => join(folder, 'tries');

/** The folders of all tries of a seat. */
export function seatTries(folder: string): readonly SeatTry[] {
  const path = triesIn(folder);
  // Somebody may have removed the folder by hand.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return readdirSync(path).flatMap((mark) => {
    const [, id, tries] = /^([\w-]+)\.(\d+)$/.exec(mark) ?? [];
    if (id === undefined) return [];
    const single = new TryFolder(path, mark);
    // Without `open`, the service stopped while it created the folder.
    return single.isThere ? [{ id, tries: Number(tries), folder: single }] : [];
  });
}

export class SeatTries {
  readonly #settings: TriesSettings;
  readonly #staying: StayingPrograms;
  readonly #endings: Endings;
  /** The tries whose shim this service has started and not seen exit. */
  readonly shims = new Set<string>();
  readonly #progress = new Map<string, number>();
  /** The ends of tries, whose files are read once. */
  readonly #ends = new Map<string, Promise<RunEnd>>();
  /** The program of each try that this service has started. */
  readonly #programs = new Map<string, string>();
  /** Tries that stay and whose end was announced. */
  readonly #told = new Set<string>();

  constructor(settings: TriesSettings) {
    this.#settings = settings;
    [this.#staying, this.#endings] = [settings.staying, settings.endings];
  }

  all = (): readonly SeatTry[] => seatTries(this.#settings.folder);

  /** The folder of a try that is about to begin. */
  open(run: string, tries: number, programId: string): TryFolder {
    const folder = new TryFolder(triesIn(this.#settings.folder), `${run}.${tries}`);
    this.#programs.set(folder.mark, programId);
    return folder;
  }

  /** True if a try has ended since the last look; what a staying program answered is reported once. */
  takeNews = (): boolean => this.all().some(({ folder }) => this.#takeNews(folder));

  #takeNews(folder: TryFolder): boolean {
    const { stays } = folder;
    if (stays === undefined) return folder.exit !== undefined && !this.#endings.isBegun(folder.mark);
    const { answers, exitCode } = this.#staying.folder(stays.process);
    const hasEnded = exitCode !== undefined || answers.to(folder.mark) !== undefined;
    if (!hasEnded || this.#told.has(folder.mark)) return false;
    this.#told.add(folder.mark);
    return true;
  }

  async seenIn(folder: TryFolder): Promise<Seen> {
    const { stays } = folder;
    const verdict = await this.#verdict(folder, stays);
    switch (verdict.kind) {
      case 'waiting':
        return { at: 'waiting', ahead: 0 };
      case 'running':
        this.#tellProgress(folder, stays);
        return { at: 'running' };
      case 'unclaimed':
        return this.#unclaimed(folder, stays);
      case 'undelivered':
        if (stays !== undefined) this.#staying.closed(stays.process);
        return this.#unsent('takes no further runs');
      case 'lost':
        return { at: 'absent', hasBegun: true };
      case 'answered':
        return { at: 'ended', end: await this.#endOnce(folder, verdict, stays) };
      case 'timeout':
      case 'exited':
        return this.#endBelow(folder, stays)
          ? { at: 'ended', end: await this.#endOnce(folder, verdict, stays) }
          : { at: 'running' };
    }
  }

  async #unclaimed(folder: TryFolder, stays: StayingTry | undefined): Promise<Seen> {
    folder.forbid();
    const { claim } = folder;
    // A shim that begins at this moment wins.
    if (claim === 'shim') return { at: 'running' };
    if (claim === 'unknown' && (await this.#endIfLate(folder, stays))) return { at: 'waiting', ahead: 0 };
    return stays === undefined ? { at: 'absent' } : this.#unsent('had ended before it got this run');
  }

  /** Ends a creator of `go` that is late; true if it may still write into it, or has done so meanwhile. */
  async #endIfLate(folder: TryFolder, stays: StayingTry | undefined): Promise<boolean> {
    const mark = stays?.process ?? folder.mark;
    if ((await processesOf(mark, MARK_NAMES)).length === 0) return folder.isClaimed;
    const isLate = Date.now() - (folder.beganMs ?? 0) > CLAIM_MS;
    if (isLate) void (stays === undefined ? this.#endings.end(mark) : this.#staying.end(mark));
    return true;
  }

  #unsent(why: string): Seen {
    const reason = `the program ${why}: it is started again`;
    return { at: 'ended', end: { status: 'postponed', ranMs: 0, afterMs: 0, reason } };
  }

  /** Reads the claim before the look for processes, and exits and answers after it, so that no order of events is missed. */
  async #verdict(folder: TryFolder, stays: StayingTry | undefined): Promise<TryVerdict> {
    const { claim } = folder;
    const isClaimed = claim === 'shim';
    if (stays === undefined) {
      const isAlive = folder.exit === undefined && (await this.#isAlive(folder));
      const [exitCode, isAtLimit] = [folder.exit?.code, folder.isAtLimit];
      const own = { stays: false, mayBegin: true, isUndelivered: false, answer: undefined };
      // A program at its limit has been ended, whatever its exit code.
      return tryVerdict({ ...own, isClaimed, isAlive, isAtLimit, exitCode });
    }
    const process = this.#staying.folder(stays.process);
    const isAlive = await this.#staying.isAlive(stays.process);
    return tryVerdict({
      stays: true,
      isClaimed,
      mayBegin: claim !== 'service' && this.#staying.isOwn(stays.process),
      isAlive,
      exitCode: process.exitCode,
      isAtLimit: process.limitOf === folder.mark,
      isUndelivered: folder.isUndelivered,
      answer: isClaimed || folder.isClaimed ? process.answers.to(folder.mark) : undefined,
    });
  }

  async #isAlive(folder: TryFolder): Promise<boolean> {
    return this.shims.has(folder.mark) || (await processesOf(folder.mark)).length > 0;
  }

  /** Ends whatever a program has left behind; true once nothing is left. */
  #endBelow(folder: TryFolder, stays: StayingTry | undefined): boolean {
    void this.end(folder);
    return this.#endings.isDone(stays?.process ?? folder.mark);
  }

  /** Ends the process of a try that has not ended. */
  end(folder: TryFolder): Promise<void> {
    folder.forbid();
    const { stays } = folder;
    if (stays === undefined) return this.#endings.end(folder.mark);
    if (folder.claim === 'service') this.#staying.withdraw(folder.mark);
    const hasAnswer = this.#staying.folder(stays.process).answers.to(folder.mark) !== undefined;
    return folder.isClaimed && !hasAnswer ? this.#staying.end(stays.process) : Promise.resolve();
  }

  #endOnce(folder: TryFolder, verdict: TryVerdict, stays: StayingTry | undefined): Promise<RunEnd> {
    const end = this.#ends.get(folder.mark) ?? this.#endOf(folder, verdict, stays);
    this.#ends.set(folder.mark, end);
    return end;
  }

  async #endOf(folder: TryFolder, verdict: TryVerdict, stays: StayingTry | undefined): Promise<RunEnd> {
    const { exit, beganMs } = folder;
    const atMs = verdict.kind === 'answered' ? verdict.answer.atMs : exit?.atMs;
    const ranMs = atMs !== undefined && beganMs !== undefined ? Math.max(0, atMs - beganMs) : undefined;
    if (verdict.kind === 'answered') {
      if (verdict.answer.kind === 'ok')
        return endByFiles(folder, verdict.answer.atMs, { ranMs, stays: true });
      return { status: 'failed', ranMs, reason: await this.#withDisk(verdict.answer.reason) };
    }
    if (verdict.kind !== 'exited') return { status: 'timeout', ranMs };
    const { code } = verdict;
    const last =
      stays === undefined
        ? (folder.lastLines(1)[0] ?? '')
        : this.#staying.folder(stays.process).lastLine(stays.logAt);
    if (code === 0 && stays === undefined)
      return endByFiles(folder, exit?.atMs ?? 0, { ranMs, stays: false });
    if (isBroken(code) && stays === undefined) return this.#brokenBy(folder, endText(code, last), ranMs);
    const end = endByCode(code, { last, ranMs, postponedMs: this.#settings.timing.postponedMs });
    return end.status === 'failed' ? { ...end, reason: await this.#withDisk(end.reason) } : end;
  }

  /** The command itself cannot be executed, which is no fault of the row. */
  #brokenBy(folder: TryFolder, reason: string, ranMs: number | undefined): RunEnd {
    const program = this.#programs.get(folder.mark);
    if (program !== undefined) this.#settings.broken(program, reason);
    return { status: 'postponed', ranMs, afterMs: this.#settings.timing.blockedMs, reason };
  }

  async #withDisk(reason: string): Promise<string> {
    const { free } = await diskOf(this.#settings.folder);
    return free < ROOM_BYTES ? `${reason} (only ${free >> 20} MB are free on the disk)` : reason;
  }

  #tellProgress(folder: TryFolder, stays: StayingTry | undefined): void {
    if (stays === undefined) folder.cutLog();
    const progress =
      stays === undefined
        ? folder.progress()
        : this.#staying.folder(stays.process).answers.progressOf(folder.mark);
    if (progress === undefined || this.#progress.get(folder.mark) === progress) return;
    this.#progress.set(folder.mark, progress);
    const [id = ''] = folder.mark.split('.');
    this.#settings.tell({ kind: 'work', id, node: undefined, progress });
  }

  cancel(id: string): void {
    for (const { folder } of this.#ofRun(id)) void this.end(folder);
  }

  #ofRun = (id: string) => this.all().filter((each) => each.id === id);

  /** The folders stay until nothing writes into them any more. */
  forget(id: string): void {
    for (const { folder } of this.#ofRun(id)) void this.end(folder).then(() => this.#remove(folder));
  }

  #remove(folder: TryFolder): void {
    const { stays } = folder;
    // A call that did not wait for the end must not remove the folder of a living program.
    if (stays === undefined && !this.#endings.isDone(folder.mark)) return;
    if (stays !== undefined) this.#staying.forget(stays.process, folder.mark);
    this.#endings.forget(folder.mark);
    for (const noted of [this.#ends, this.#progress, this.#programs, this.#told]) noted.delete(folder.mark);
    folder.remove();
  }
}
