// The schedules of a program: sheets that run at fixed times.

import { fileURLToPath } from 'node:url';
import { definitionFrom, type AskedSchedule } from '../create-batch/schedule/definition.ts';
import type { CreatedSchedule, ScheduleHandle, ScheduleInfo } from '../temporal/schedules.ts';
import { requestFrom, type BatchOptions } from './batch-options.ts';
import { serviceOf } from './connect-options.ts';
import type { Servers } from './servers.ts';

export type ScheduleOptions = Omit<BatchOptions, 'batchId' | 'deadline' | 'reuse'> &
  Pick<AskedSchedule, 'name' | 'cron' | 'timezone' | 'overlap' | 'catchupMs' | 'deadlineMs'> & {
    /** A path or a file URL, which each firing reads; `{{date}}` and `{{time}}` are those of the firing. */
    readonly sheet: string | URL;
    /** Keep the results of rows that earlier batches have; otherwise each firing buys every row. */
    readonly reuse?: boolean;
    /** Change the schedule of this name. */
    readonly replace?: boolean;
  };

export class Schedules {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Throws E562 if another schedule has this name and `replace` is not set, E602 for a rule that cannot be met. */
  async create({
    sheet,
    reuse = false,
    replace = false,
    ...options
  }: ScheduleOptions): Promise<CreatedSchedule> {
    const { config } = this.#servers;
    const service = serviceOf(config, this.#servers.options.service);
    const { again: _, ...request } = requestFrom(options, service);
    const path = sheet instanceof URL ? fileURLToPath(sheet) : sheet;
    const definition = definitionFrom({ ...options, sheet: path, out: config.out, request, reuse });
    const { schedules } = await this.#servers.open(false);
    return schedules.create(definition, { replace });
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
