// Lists the commands on schedules with their arguments and their help.

import { buildRouteMap } from '@stricli/core';
import { OVERLAPS, SCHEDULE_DEFAULTS } from '../../options/choices.ts';
import { command } from '../command.ts';
import { boolean, choice, optional, out, shownFlags, sheetFlags, textFlag, time } from '../flags/flags.ts';
import { named as nameKind, MAX_SCHEDULE_NAME } from '../../options/kinds.ts';
import { fail, valueFrom, argument, positional } from '../flags/flag-kinds.ts';

/** A schedule's name, short enough that the time of a firing fits after it in a batch name. */
const scheduleName = (input: string): string =>
  input.length <= MAX_SCHEDULE_NAME
    ? valueFrom(nameKind)(input)
    : fail(`has more than ${MAX_SCHEDULE_NAME} characters`);

const named = positional(argument('schedule', 'name of the schedule', 'schedules'));

const without = <T extends object, const K extends keyof T>(flags: T, names: readonly K[]): Omit<T, K> =>
  Object.fromEntries(Object.entries(flags).filter(([name]) => !names.includes(name as K))) as Omit<T, K>;

// A firing asks nobody and always makes a new batch; its deadline counts from its start.
const sheetOfFiring = without(sheetFlags, ['again', 'deadline', 'into', 'name', 'quiet', 'yes']);

const create = command(
  async () => (await import('./schedule-create.ts')).default,
  {
    positional: positional(
      { ...argument('schedule', 'name of the schedule'), parse: scheduleName },
      argument('sheet', 'the sheet, which each firing reads; {{date}} and {{time}} are those of the firing'),
    ),
    flags: {
      cron: textFlag('rule', "minute, hour, day of month, month, day of week, such as '0 2 * * *'"),
      tz: optional(textFlag('zone', "time zone of the rule, such as Europe/Paris (default: the machine's)")),
      overlap: choice(
        OVERLAPS,
        SCHEDULE_DEFAULTS.overlap,
        'if the batch of an earlier firing runs: leave the new one out, let one wait, or cancel the earlier one',
      ),
      catchup: optional(
        time(
          'time',
          `fire late if no server ran at the time, up to this long after it (default: ${SCHEDULE_DEFAULTS.catchupHours}h)`,
        ),
      ),
      replace: boolean('change the schedule of this name'),
      ...sheetOfFiring,
      deadline: optional(
        time('time', 'pause each batch this long after its firing, such as 8h (default: none)'),
      ),
      reuse: boolean('keep the results of rows that succeeded in earlier batches; buy only the others'),
    },
  },
  'run a sheet again and again, at the times of a rule',
  '<schedule> <sheet> -d <deployment> --cron <rule> [flags]',
);

export const schedule = buildRouteMap({
  routes: {
    create,
    apply: command(
      async () => (await import('./schedule-apply.ts')).applyWith(create.parameters),
      {
        positional: positional(argument('jobs', 'a job file such as nightly.job.toml, or a folder of them')),
        flags: {
          acceptFiles: boolean('upload also files outside of the folder of a sheet that its rows name'),
          prune: boolean('delete the schedules that have no job there'),
          yes: boolean('change and delete without asking'),
          ...shownFlags,
        },
      },
      'make the schedules equal to job files',
    ),
    list: command(
      async () => (await import('./schedule.ts')).list,
      { flags: shownFlags },
      'list the schedules',
    ),
    show: command(
      async () => (await import('./schedule.ts')).show,
      { positional: named, flags: shownFlags },
      'show a schedule: its next times, and its last firings with outcome and cost',
    ),
    pause: command(
      async () => (await import('./schedule.ts')).pause,
      {
        positional: named,
        flags: { reason: optional(textFlag('text', 'why; show names it')), out },
      },
      'fire no more until resume; a batch that runs continues',
    ),
    resume: command(
      async () => (await import('./schedule.ts')).resume,
      { positional: named, flags: { out } },
      'fire again; times in the pause are not made up for',
    ),
    trigger: command(
      async () => (await import('./schedule.ts')).default,
      {
        positional: named,
        flags: {
          from: optional(
            textFlag(
              'time',
              'instead of now: fire at all times of the rule from here on, such as 2026-11-01',
            ),
          ),
          to: optional(textFlag('time', 'last time, such as 2026-11-07 or 2026-11-07T06:00')),
          ...shownFlags,
        },
      },
      'fire now, or at past times of the rule, and print the batch ids',
      '<schedule> [--from <time> --to <time>] [flags]',
    ),
    delete: command(
      async () => (await import('./schedule.ts')).remove,
      { positional: named, flags: { out } },
      'delete a schedule; its batches stay',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'run sheets at fixed times' },
});
