// D13: what a flag does, an option of the library does. A new flag has to be added here, with its option or with the reason why it
// concerns only the command line. The compiler checks that the options exist.

import type { buildRouteMap } from '@stricli/core';
import { describe, expect, it } from 'vitest';
import { application } from '../../src/cli/command-list.ts';
import { LIMITS as LIMITS_OF_A_BATCH } from '../../src/options/limits.ts';
import { OPTIONS } from '../../src/options/table.ts';
import type {
  AppendOptions,
  BatchHandle,
  BatchOptions,
  CancelOptions,
  CommandOptions,
  CompareOptions,
  ConnectOptions,
  Deployments,
  EventsOptions,
  ExportOptions,
  LogsOptions,
  Pools,
  ResultOptions,
  ResultsOfBatch,
  ResumeOptions,
  RetryOptions,
  RowsOptions,
  Runsheet,
  ScheduleHandle,
  ScheduleOptions,
  ServiceOptions,
  VerifyOptions,
} from '../../src/index.ts';

type Of<Name extends string, T> = `${Name}.${Extract<keyof T, string>}`;
type Option =
  | Of<'AppendOptions', AppendOptions>
  | Of<'BatchHandle', BatchHandle>
  | Of<'BatchOptions', BatchOptions>
  | Of<'CancelOptions', CancelOptions>
  | Of<'CommandOptions', CommandOptions>
  | Of<'CompareOptions', CompareOptions>
  | Of<'ConnectOptions', ConnectOptions>
  | Of<'Deployments', Deployments>
  | Of<'EventsOptions', EventsOptions>
  | Of<'ExportOptions', ExportOptions>
  | Of<'LogsOptions', LogsOptions>
  | Of<'Pools', Pools>
  | Of<'ResultOptions', ResultOptions>
  | Of<'ResultsOfBatch', ResultsOfBatch>
  | Of<'ResumeOptions', ResumeOptions>
  | Of<'RetryOptions', RetryOptions>
  | Of<'RowsOptions', RowsOptions>
  | Of<'Runsheet', Runsheet>
  | Of<'ScheduleHandle', ScheduleHandle>
  | Of<'ScheduleOptions', ScheduleOptions>
  | Of<'ServiceOptions', ServiceOptions>
  | Of<'VerifyOptions', VerifyOptions>;

/** Either an option, or the reason why only the command line has the flag. */
type Entry = Option | { readonly only: string };
type Table = Readonly<Record<string, Entry>>;

const SHOWN: Table = {
  out: 'ConnectOptions.store',
  output: { only: 'chooses what is printed; the library returns objects' },
  quiet: { only: 'chooses what is printed' },
};

/** The options of the table have the names of their flags. */
const optionsIn = (options: object): Table =>
  Object.fromEntries(Object.keys(options).map((option) => [option, { only: 'in the table of options' }]));

const LIMITS = optionsIn(LIMITS_OF_A_BATCH);

const HOW: Table = { reason: 'CommandOptions.reason', timeout: 'CommandOptions.timeoutMs' };

const ALL: Table = {
  ...SHOWN,
  ...optionsIn(OPTIONS),
  api: 'ServiceOptions.api',
  local: 'ConnectOptions.service',
  workflow: 'Deployments.add',
  comfyui: 'Deployments.add',
  comfyuiHeaders: 'Deployments.add',
  comfyApi: 'Deployments.add',
  comfyApiKeyFile: 'Deployments.add',
  yes: { only: 'answers the question after a canary, which the library never asks' },
  again: 'BatchOptions.reuse',
  reuse: 'BatchOptions.reuse',
  into: 'BatchHandle.append',
  from: 'ResultsOfBatch.from',
  where: 'ResultsOfBatch.where',
  pick: 'ResultsOfBatch.pick',
  each: 'ResultsOfBatch.each',
};

const without = (table: Table, ...names: readonly string[]): Table =>
  Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)));

/** What programs answer is asked or said by flags of their own. */
const SHEET = without(ALL, 'guess');
const LISTED = without(SHOWN, 'quiet');

const FLAGS: Readonly<Record<string, Table>> = {
  run: {
    ...SHEET,
    demo: { only: 'hidden: says that the demo removes the batch' },
    watch: {
      only: 'waits for a user who saves a file; a program knows when its rows change: BatchHandle.append',
    },
  },
  submit: SHEET,
  plan: {
    ...SHEET,
    into: 'BatchHandle.planAppend',
    save: {
      only: 'keeps what a user answers; a program gives its options. What is kept holds for both',
    },
  },
  list: LISTED,
  status: LISTED,
  follow: SHOWN,
  wait: { ...LISTED, timeout: 'ResultOptions.timeoutMs' },
  rows: {
    ...LISTED,
    outcome: 'RowsOptions.outcome',
    fields: { only: 'chooses the printed columns; a program has all fields' },
    follow: 'RowsOptions.follow',
  },
  show: LISTED,
  open: {
    ...LISTED,
    open: { only: 'starts the browser' },
    serve: 'BatchHandle.report',
  },
  export: {
    ...LISTED,
    as: 'ExportOptions.as',
    file: 'ExportOptions.file',
    excel: 'ExportOptions.excel',
    replace: 'ExportOptions.replace',
  },
  deployments: {
    ...LISTED,
    api: 'ServiceOptions.api',
    local: 'ConnectOptions.service',
    workflow: 'Deployments.add',
    comfyui: 'Deployments.add',
    comfyuiHeaders: 'Deployments.add',
    comfyApi: 'Deployments.add',
    comfyApiKeyFile: 'Deployments.add',
    sheet: { only: 'prints a template of a sheet' },
  },
  logs: { ...LISTED, attempt: 'LogsOptions.attempt' },
  results: LISTED,
  events: {
    ...LISTED,
    follow: 'EventsOptions.follow',
    rows: 'EventsOptions.rows',
    since: 'EventsOptions.since',
  },
  compare: {
    ...LISTED,
    by: 'CompareOptions.by',
    file: 'CompareOptions.file',
    serve: { only: 'shows the page to the person who gave the command' },
  },
  verify: {
    ...LISTED,
    files: 'VerifyOptions.files',
    lists: 'VerifyOptions.lists',
  },
  resume: {
    ...LISTED,
    ...LIMITS,
    ...HOW,
    unconfirmed: 'ResumeOptions.unconfirmed',
    recover: 'ResumeOptions.recover',
  },
  retry: {
    ...LISTED,
    ...HOW,
    outcome: 'RetryOptions.outcome',
    row: 'RetryOptions.rows',
    key: 'RetryOptions.keys',
    failure: 'RetryOptions.failure',
    acceptGpu: 'RetryOptions.acceptGpu',
    gpu: 'RetryOptions.gpu',
    set: 'RetryOptions.set',
    buyAgain: 'RetryOptions.buyAgain',
    yes: 'RetryOptions.mayBuyTwice',
    detach: { only: 'the library follows nothing unless it is asked to' },
  },
  pause: { ...LISTED, ...HOW },
  scale: { ...LISTED, ...LIMITS, ...HOW },
  cancel: { ...LISTED, ...HOW, running: 'CancelOptions.running' },
  'pool list': LISTED,
  'pool show': LISTED,
  'pool set': { ...LISTED, size: 'Pools.set' },
  'pool release': LISTED,
  'schedule create': {
    ...without(SHEET, 'again', 'into', 'name', 'quiet', 'yes', 'from', 'where', 'pick', 'each'),
    cron: 'ScheduleOptions.cron',
    tz: 'ScheduleOptions.timezone',
    overlap: 'ScheduleOptions.overlap',
    catchup: 'ScheduleOptions.catchup',
    replace: 'ScheduleOptions.replace',
    deadline: 'ScheduleOptions.deadline',
    reuse: 'ScheduleOptions.reuse',
  },
  'schedule list': LISTED,
  'schedule show': LISTED,
  'schedule pause': { out: 'ConnectOptions.store', reason: 'ScheduleHandle.pause' },
  'schedule resume': { out: 'ConnectOptions.store' },
  'schedule trigger': { ...LISTED, from: 'ScheduleHandle.trigger', to: 'ScheduleHandle.trigger' },
  'schedule delete': { out: 'ConnectOptions.store' },
};

/** Their flags concern a machine and its processes, as the commands do. */
const ABOUT_THE_MACHINE = new Set([
  'service',
  'worker',
  'dev',
  'doctor',
  'migrate-check',
  'clean',
  'embedded',
  'demo',
  'demo-loop',
  'completion',
  '__complete',
]);

type Routes = ReturnType<typeof buildRouteMap>;
type Target = Routes | { readonly parameters: { readonly flags?: object } };

const flagsIn = (
  routes: Routes,
  path: readonly string[] = [],
): readonly (readonly [string, readonly string[]])[] =>
  routes.getAllEntries().flatMap(({ name, target }) => {
    const full = [...path, name['convert-camel-to-kebab']];
    const one = target as unknown as Target;
    return 'getAllEntries' in one
      ? flagsIn(one, full)
      : [[full.join(' '), Object.keys(one.parameters.flags ?? {})] as const];
  });

const commands = flagsIn(application.root as Routes).filter(([name]) => !ABOUT_THE_MACHINE.has(name));

describe('the library', () => {
  it('has every command that has flags in the table', () => {
    expect(commands.map(([name]) => name).toSorted()).toEqual(Object.keys(FLAGS).toSorted());
  });

  it.each(commands)(
    'has an option for each flag of %s, unless only the command line needs it',
    (name, flags) => {
      expect(flags.toSorted()).toEqual(Object.keys(FLAGS[name] ?? {}).toSorted());
    },
  );
});
