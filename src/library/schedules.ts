// The schedules of a program: sheets that run at fixed times.

import { definitionFrom } from '../schedule/definition.ts';
import { LOCAL } from '../run-service/local-address.ts';
import type { CreatedSchedule, ScheduleHandle, ScheduleInfo } from '../temporal/schedules.ts';
import { durationFrom, requestFrom, type BatchOptions, type Duration } from './start/batch-options.ts';
import { serviceOf } from './connect-options.ts';
import { checkSettings } from '../create-batch/check-settings.ts';
import { asOption } from '../create-batch/questions.ts';
import { proposeFiring } from '../schedule/firing-now.ts';
import { aroundOf } from './start/start-batch.ts';
import { placeOf } from './start/given-rows.ts';
import type { Servers } from './servers.ts';
import { inputRefused } from './thrown-errors.ts';

/** A rule, and the batch that each firing makes. */
export type ScheduleOptions = Omit<BatchOptions, 'name' | 'deadline' | 'reuse' | 'guess'> & {
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
  /** Pauses each batch so long after its firing, such as `8h` (default: none). */
  readonly deadline?: Duration;
  /** A path or a file URL, which each firing reads; `{{date}}` and `{{time}}` are those of the firing. */
  readonly sheet: string | URL;
  /** Keep the results of rows that earlier batches have; otherwise each firing buys every row. */
  readonly reuse?: boolean;
  /** Change the schedule of this name. */
  readonly replace?: boolean;
};

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
  }: ScheduleOptions): Promise<CreatedSchedule> {
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
      ...(timezone === undefined ? {} : { timezone }),
      ...(overlap === undefined ? {} : { overlap }),
      ...(options.format === undefined ? {} : { format: options.format }),
      ...(catchup === undefined ? {} : { catchupMs: durationFrom('catchup', catchup) }),
      ...(deadline === undefined ? {} : { deadlineMs: durationFrom('deadline', deadline) }),
    });
    const { settings } = request;
    const where = { config, isCluster: () => this.#servers.isCluster };
    await checkSettings(settings, where);
    try {
      await (await proposeFiring(definition, aroundOf(this.#servers), asOption))?.[Symbol.asyncDispose]();
    } catch (error) {
      throw inputRefused(error);
    }
    const session = await this.#servers.open(service.base === LOCAL);
    await checkSettings(settings, { ...where, pools: async () => session.pools });
    return session.schedules.create(definition, { replace });
  }

  /** Asks Temporal for nothing yet; the methods of the handle throw E560 if there is no such schedule. */
  getHandle(name: string): ScheduleHandle {
    const handle = async (): Promise<ScheduleHandle> =>
      (await this.#servers.open(false)).schedules.getHandle(name);
    return {
      name,
      describe: async () => (await handle()).describe(),
      trigger: async (between) => (await handle()).trigger(between),
      pause: async (note) => (await handle()).pause(note),
      resume: async () => (await handle()).resume(),
      delete: async () => (await handle()).delete(),
    };
  }

  /** By name. */
  async *list(): AsyncGenerator<ScheduleInfo> {
    yield* (await this.#servers.open(false)).schedules.list();
  }
}
