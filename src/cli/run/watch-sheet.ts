// run --watch: follows a batch and its sheet. Each save sends the rows that it adds or changes, until Ctrl-C.

import { refusedLines } from './refused-lines.ts';
import { answersFrom } from '../../library/start/program-rows.ts';
import { resolve } from 'node:path';
import { EXIT, problem, isRunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { FileSaves } from '../../library/watched/file-saves.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { SavedSheet, findWatched, type Save } from '../../library/watched/saved-sheet.ts';
import { refuseForeign } from '../../library/start/foreign-batch.ts';
import { startOrAttach, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { copyingOf, limitsOf, meantService, NO_SHEET, orderOf, readingOf } from '../flags/batch-options.ts';
import { type Printer, nextLine } from '../context.ts';
import type { RunFlags } from '../flags/flags.ts';
import { followAsking } from '../follow/follow.ts';
import { errorText, ifPaid, type Paint } from '../format.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { asCommand } from './answer-policy.ts';
import { sameCommand } from '../next-command.ts';
import { hearInterrupts, type Interrupts } from '../follow/interrupt.ts';
import { refuseOtherMapping } from './into.ts';
import type { Session } from '../../library/session.ts';
import { giveLimits, type Sending } from './run-new-batch.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { isAddress } from '../../errors/redact.ts';

type WatchRequest = Pick<Sending, 'context' | 'flags' | 'sheet' | 'printer' | 'servers'>;
type Watching = WatchRequest & { readonly hasLimits: boolean };

/** A program may be in the middle of writing the sheet, so an unreadable sheet is retried once before it is reported. */
const UNREADABLE_AGAIN_MS = 1_000;
/** How often to look for rows whose turn has come; less often if looking takes long. */
const TURN_MS = 2_000;
const TURN_SHARE = 10;
/** Interval between tries while a server is away. */
const AWAY_MS = 10_000;

/** Throws E602 for a sheet that cannot be watched. */
export function refuseUnwatchable(flags: RunFlags, sheet: string): void {
  if (flags.watch && (sheet === '-' || sheet === NO_SHEET || isAddress(sheet)))
    throw problem('E602', {
      what: '--watch needs a sheet that is a file',
      hint: 'name a file of this machine',
    });
}

/** The batch of a watched sheet, whatever the sheet contains now. */
export function batchOfWatched(
  config: Config,
  flags: RunFlags,
  sheet: string,
): Promise<FoundBatch | undefined> {
  if (!flags.watch || flags.again) return Promise.resolve(undefined);
  const { base } = meantService(config, flags);
  const path = resolve(sheet);
  const { name, deployment = '' } = flags;
  return findWatched({ out: config.out, path, deployment, base, name });
}

/** Continues an existing batch; changes saved meanwhile are sent first. */
export async function continueWatched(request: WatchRequest, batchFolder: FoundBatch): Promise<number> {
  const { flags, printer, servers } = request;
  refuseOtherMapping(batchFolder, flags);
  await servers.check(limitsOf(flags));
  if (batchFolder.file.sheet.options.ladder !== undefined)
    throw problem('E602', { what: `${batchFolder.batch} has a ladder, so rows cannot be added to it` });
  const session = await servers.for(batchFolder);
  printer.notice(`This sheet is already batch ${batchFolder.batch}. Attached.`);
  const hasLimits = (await summaryOfDone(batchFolder)) === undefined;
  if (hasLimits) {
    await startOrAttach(session, batchFolder, {
      refuseStart: () => refuseForeign(servers.config, batchFolder),
    });
    await giveLimits(request, session, batchFolder);
  }
  return watchSheet({ ...request, hasLimits }, session, batchFolder);
}

export async function watchSheet(
  request: Watching,
  session: Session,
  batchFolder: FoundBatch,
): Promise<number> {
  using interrupts = hearInterrupts(request.context.process);
  return await new SheetWatcher(request, session, batchFolder).run(interrupts);
}

/** A repeated --again would make another batch. */
const repeated = (args: readonly string[]): readonly string[] => args.filter((word) => word !== '--again');

class SheetWatcher {
  readonly #given: WatchRequest;
  readonly #session: Session;
  readonly #batchFolder: FoundBatch;
  readonly #saves: FileSaves;
  readonly #sheet: SavedSheet;
  readonly #printer: Printer;
  #hasLimits: boolean;
  /** When to look at the sheet again without a save. */
  #againMs = Number.POSITIVE_INFINITY;
  #failures = 0;
  #savedAt = new Date();

  constructor(request: Watching, session: Session, batchFolder: FoundBatch) {
    const { flags, sheet, printer } = request;
    const path = resolve(sheet);
    [this.#given, this.#session, this.#batchFolder, this.#hasLimits] = [
      request,
      session,
      batchFolder,
      request.hasLimits,
    ];
    this.#saves = new FileSaves(path);
    this.#printer = printer;
    this.#sheet = new SavedSheet({
      servers: request.servers,
      batchFolder,
      path,
      deployment: flags.deployment ?? '',
      copying: { ...copyingOf(flags), job: request.context.job },
      reading: readingOf(flags),
      order: orderOf(flags),
      answers: answersFrom(flags),
      wording: asCommand(repeated(request.context.process.argv)),
    });
  }

  async run(interrupts: Interrupts): Promise<number> {
    const print = (text: string): void => this.#printer.notice(text);
    await this.#saves.take();
    await this.#take('again', print);
    for (let isTold = false; ; isTold = true) {
      if ((await summaryOfDone(this.#batchFolder)) === undefined) {
        isTold = false;
        const code = await this.#follow(interrupts);
        if (code === EXIT.interrupted || code === EXIT.paused) return code;
        // Rows may have been left out, or had their turn, while the batch ended. A save in progress arrives later as a save.
        if (await this.#saves.isTaken()) await this.#take('again', print);
        if ((await summaryOfDone(this.#batchFolder)) === undefined) continue;
      }
      if (!isTold) print(`waiting for the next save of ${this.#given.sheet}; Ctrl-C ends`);
      const what = await this.#idle(interrupts);
      if (what !== 'stopped') await this.#take(what, print);
      else {
        print(`\nNo longer watching ${this.#given.sheet}.`);
        print(nextLine(['continue', sameCommand(repeated(this.#given.context.args ?? []), 'run')]));
        return EXIT.interrupted;
      }
    }
  }

  #follow(interrupts: Interrupts): Promise<number> {
    const { context } = this.#given;
    return followAsking({
      session: this.#session,
      batchFolder: this.#batchFolder,
      printer: this.#printer,
      process: context.process,
      interrupts,
      beside: async (note, done) => {
        for (;;) {
          const what = await this.#saves.next(done, this.#againMs);
          if (what === 'stopped') return;
          await this.#take(what, note);
        }
      },
    });
  }

  async #idle(interrupts: Interrupts): Promise<'saved' | 'again' | 'stopped'> {
    const stop = new AbortController();
    const lost = this.#session.stack?.lost ?? new Promise(() => undefined);
    const stopped = Promise.race([interrupts.first, lost]).then(() => 'stopped' as const);
    const saved = this.#saves.next(stop.signal, this.#againMs);
    try {
      return await Promise.race([saved, stopped]);
    } finally {
      stop.abort();
      await saved;
    }
  }

  /** Sends the additions and changes of the current sheet. A refused or unreadable sheet does not end the command. */
  async #take(what: 'saved' | 'again', print: (text: string) => void): Promise<void> {
    if (what === 'saved') [this.#savedAt, this.#failures] = [new Date(), 0];
    const began = performance.now();
    try {
      const save = await this.#sheet.take(this.#session);
      const isNews = what === 'saved' || this.#failures > 0 || save.runs + save.deleted > 0;
      const turns = Math.max(TURN_MS, TURN_SHARE * (performance.now() - began));
      this.#againMs = save.waiting > 0 ? turns : Number.POSITIVE_INFINITY;
      this.#failures = 0;
      if (isNews) print(saveLine(this.#savedAt, save));
      else if (save.sent > 0) print(`${plural(save.sent, 'changed row')} sent now`);
      if (save.sent > 0) await this.#giveLimits();
    } catch (error) {
      this.#failures += 1;
      const isFinal = isRefused(error) && this.#failures > 1;
      this.#againMs = isFinal ? Number.POSITIVE_INFINITY : this.#failures > 1 ? AWAY_MS : UNREADABLE_AGAIN_MS;
      if (this.#failures === 2) print(refusalLines(this.#savedAt, error, this.#printer.paint));
    }
  }

  /** An ended batch takes limits only once it runs again. */
  async #giveLimits(): Promise<void> {
    if (this.#hasLimits) return;
    this.#hasLimits = true;
    await giveLimits(this.#given, this.#session, this.#batchFolder);
  }
}

export function saveLine(at: Date, save: Save): string {
  const { changed, appended, deleted, waiting } = save;
  const parts = [
    changed > 0 ? `${plural(changed, 'row')} changed` : undefined,
    appended > 0 ? `${appended} new` : undefined,
    deleted > 0 ? `${deleted} deleted` : undefined,
  ].filter((part) => part !== undefined);
  const later = waiting > 0 ? `; ${plural(waiting, 'row')} after the run of now` : '';
  const unheld =
    save.unheld > 0 ? `; ${plural(save.unheld, 'row')} too many to hold back: may first run as before` : '';
  const ignored = save.others.length > 0 ? `; ignored: ${save.others.map(terminalLine).join(', ')}` : '';
  return `saved ${clock(at)}: ${parts.length === 0 ? 'no row changed' : parts.join(', ')} → ${plural(save.runs, 'run')}${costText(save)}${later}${unheld}${ignored}${unreadText(save)}`;
}

function unreadText({ refused }: Save): string {
  if (refused === undefined) return '';
  const lines = refusedLines(refused).map((line) => `\n${line}`);
  return `\n  refused   ${plural(refused.rows, 'row')} cannot be read and ${refused.rows === 1 ? 'stays as it was' : 'stay as they were'}:${lines.join('')}`;
}

const clock = (at: Date): string => at.toTimeString().slice(0, 8);

function costText({ runs, estimate }: Save): string {
  const cost = estimate?.source === 'prices' ? undefined : estimate?.cost_usd;
  return runs === 0 || !cost ? '' : ifPaid(cost.expected, (amount) => `, about ${amount}`);
}

function refusalLines(at: Date, error: unknown, paint: Paint): string {
  const why = isRunsheetError(error, 'E532')
    ? 'the columns have changed; nothing is sent until they are as before'
    : isRefused(error)
      ? 'save refused, nothing was sent; correct the sheet and save it again'
      : 'save not taken yet; it is tried again';
  return `saved ${clock(at)}: ${paint('yellow', why)}\n${errorText(error, paint).trimEnd()}`;
}

const isRefused = (error: unknown): boolean => isRunsheetError(error) && error.exit === EXIT.inputRefused;
