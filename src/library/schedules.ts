// Schedules for programs: sheets that run at fixed times.

import { definedOnly } from '../options/defined-only.ts';
import {
  definitionFrom,
  firingOf,
  isFilled,
  type ScheduleDefinition,
} from '../schedule/schedule-definition.ts';
import type { FiringInfo } from '../temporal/firing-info.ts';
import type { DraftBatch } from '../batches/laid-out-sheet.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import { openBatchFolder } from '../store/batch-folders.ts';
import { LOCAL } from '../host/local-address.ts';
import type { CreatedSchedule, ScheduleHandle, ScheduleInfo } from '../temporal/temporal-schedules.ts';
import { serviceOf } from './connect-options.ts';
import { refusal } from '../batches/question-texts.ts';
import { asOption, AGAIN, type Wording } from '../batches/questions.ts';
import {
  placeOf,
  durationFrom,
  requestFrom,
  type BatchOptions,
  type Duration,
} from './start/program-rows.ts';
import { takeSignals, type Abortable } from './abortable.ts';
import type { Servers } from './servers.ts';
import type { Session } from './session.ts';
import { inputRefused } from './thrown-errors.ts';
import { Readable } from 'node:stream';
import { propose, type ProposalContext } from '../batches/propose.ts';
import { isRunsheetError } from '../errors/error.ts';

/** A rule, and the batch that each firing makes. */
export type ScheduleOptions = Omit<BatchOptions, 'name' | 'deadline' | 'reuse'> & {
  /** The name of the schedule; its batches have this name and the time of the firing. */
  readonly name: string;
  /** Minute, hour, day of month, month, day of week, such as `0 2 * * *`. */
  readonly cron: string;
  /** The time zone of the rule, such as `Europe/Paris` (default: the machine's). */
  readonly timezone?: string;
  /** If the batch of an earlier firing runs: `skip` the new one (default), let it wait (`buffer`), or `cancel` the earlier one. */
  readonly overlap?: 'skip' | 'buffer' | 'cancel';
  /** How late a firing may be, if no server ran at its time; at least `10s` (default: an hour). */
  readonly catchup?: Duration;
  /** Pauses each batch this long after its firing, such as `8h` (default: none). */
  readonly deadline?: Duration;
  /** A path or a file URL, which each firing reads; `{{date}}` and `{{time}}` are those of the firing. */
  readonly sheet: string | URL;
  /** Keep the results of rows that earlier batches have; otherwise each firing buys every row. */
  readonly reuse?: boolean;
  /** Change the schedule of this name. */
  readonly replace?: boolean;
};

type Created = CreatedSchedule & {
  /** The batch that a firing would make now; undefined if its sheet does not exist yet. */
  readonly today: Pick<DraftBatch, 'file' | 'laidOut'> | undefined;
  /** The embedded servers, if the schedule fires only while they run. */
  readonly stack: Session['stack'];
};

/** Checks what a firing would do now, and creates the schedule. */
export async function createSchedule(
  servers: Servers,
  definition: ScheduleDefinition,
  { replace, wording }: { readonly replace: boolean; readonly wording: Wording },
): Promise<Created> {
  const { session, today } = await checkFiring(servers, definition, wording);
  const created = await session.schedules.create(definition, { replace });
  return { ...created, today, stack: session.stack };
}

/** Throws the errors of a firing now, and questions that no firing can answer. */
export async function checkFiring(servers: Servers, definition: ScheduleDefinition, wording: Wording) {
  const { settings, service } = definition.request;
  await servers.check(settings);
  await using proposal = await proposeFiring(definition, servers.around(service), wording);
  const session = await servers.look(service.base === LOCAL);
  await servers.check(settings, undefined, session);
  return { session, today: proposal?.draft };
}

export type ShownFiring = FiringInfo & { readonly summary: Summary | undefined };

/** The firings with the results of their batches, as far as this machine has them. */
export const shownFirings = ({
  definition: { out },
  firings,
}: ScheduleInfo): Promise<readonly ShownFiring[]> =>
  Promise.all(
    firings.map(async (firing) => {
      const batchFolder = await openBatchFolder(out, firing.batch);
      return { ...firing, summary: batchFolder && (await readSummary(batchFolder.store)) };
    }),
  );

/** Sheets that run at fixed times. */
export class Schedules {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /**
   * Checks the sheet that a firing would read now, if it exists. Throws its errors as `start`, E562 if another schedule has this name
   * and `replace` is not set, E602 for a rule that cannot be met.
   */
  async create({
    sheet,
    reuse = false,
    replace = false,
    name,
    cron,
    timezone,
    overlap,
    catchup,
    deadline,
    ...options
  }: ScheduleOptions & Abortable): Promise<CreatedSchedule> {
    const { config } = this.#servers;
    const service = serviceOf(config, this.#servers.options.service);
    const { again: _, ...request } = requestFrom(options, service);
    const definition = definitionFrom({
      name,
      cron,
      sheet: placeOf(sheet),
      out: config.out,
      request,
      reuse,
      ...definedOnly({
        timezone,
        overlap,
        format: options.format,
        catchupMs: catchup === undefined ? catchup : durationFrom('catchup', catchup),
        deadlineMs: deadline === undefined ? deadline : durationFrom('deadline', deadline),
      }),
    });
    try {
      const { how } = await createSchedule(this.#servers, definition, { replace, wording: asOption });
      return { handle: this.getHandle(name), how };
    } catch (error) {
      throw inputRefused(error);
    }
  }

  /** Asks Temporal for nothing yet; the methods of the handle throw E560 if there is no such schedule. */
  getHandle(name: string): ScheduleHandle {
    const handle = async (): Promise<ScheduleHandle> =>
      (await this.#servers.look(false)).schedules.getHandle(name);
    return takeSignals({
      name,
      describe: async () => (await handle()).describe(),
      trigger: async (between) => (await handle()).trigger(between),
      pause: async (note) => (await handle()).pause(note),
      resume: async () => (await handle()).resume(),
      delete: async () => (await handle()).delete(),
    });
  }

  /** Sorted by name. */
  async *list(_call?: Abortable): AsyncGenerator<ScheduleInfo> {
    yield* (await this.#servers.look(false)).schedules.list();
  }
}

takeSignals(Schedules.prototype);

/**
 * Returns undefined if the sheet does not exist yet; the caller disposes of the proposal. Throws the errors
 * of the sheet and the service, and questions that no firing can answer. Future batches are unknown.
 */
async function proposeFiring(
  definition: ScheduleDefinition,
  around: Omit<ProposalContext, 'isPlan'>,
  wording: Wording,
) {
  const { name, sheet, request } = firingOf(definition, Date.now());
  const { format } = definition;
  const { sheet: page } = request.options;
  const copying = {
    stdin: Readable.from([]),
    ...definedOnly({ format, sheet: page, job: definition.job }),
  };
  const firing = { ...request, name, again: true, answers: { ...request.answers, ...AGAIN } };
  try {
    const proposal = await propose(firing, { path: sheet, copying }, { ...around, isPlan: true });
    const { questions } = proposal;
    if (questions.length === 0) return proposal;
    await proposal[Symbol.asyncDispose]();
    throw refusal(questions, wording);
  } catch (error) {
    if (isFilled(definition.sheet) && isRunsheetError(error, 'E101')) return undefined;
    throw error;
  }
}
