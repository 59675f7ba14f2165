// Lists every command with its arguments, help and module. Modules load only when their command is chosen, which keeps --help fast.

import { buildApplication, buildRouteMap } from '@stricli/core';
import { onBatches } from './batch/batch-commands.ts';
import { command } from './command.ts';
import { argument, maybe, positional, shell, valueFrom } from './flags/flag-kinds.ts';
import {
  fromFlags,
  optional,
  textFlag,
  runFlags,
  sheetFlags,
  shownFlags,
  boolean,
  output,
  wholeFlag,
  out,
  keyList,
  quiet,
  rowList,
} from './flags/flags.ts';
import * as flags from './servers/server-flags.ts';
import { schedule } from './schedule/schedule-commands.ts';
import { PARSER_TEXT } from './flags/parser-faults.ts';
import { version, PROGRAM } from '../host/package-version.ts';
import { MAX_POOL_SIZE } from '../options/bounds-and-defaults.ts';
import { named as nameKind } from '../options/kinds.ts';

const SHEET = 'a file, an address, - for stdin, or nightly.job.toml';
const sheet = positional(maybe(argument('sheet', SHEET)));

const EXAMPLES = [
  'Examples',
  '  {name} prompts.csv -d portraits --local',
  '  {name} prompts.csv -d portrait-v3 -c 24 --max-cost 20',
];

const onSheets = {
  run: command(
    async () => (await import('./run/run.ts')).run,
    {
      positional: sheet,
      flags: { ...sheetFlags, ...fromFlags, ...runFlags },
    },
    'send a sheet and follow it until every row has an outcome',
    '<sheet> -d <deployment> [flags] | --from <batch> -d <deployment> [flags]',
    EXAMPLES,
  ),
  plan: command(
    async () => (await import('./run/plan.ts')).default,
    {
      positional: sheet,
      flags: {
        ...sheetFlags,
        ...fromFlags,
        errors: boolean('list every problem of the sheet in <sheet>-errors.csv in the batches folder'),
        write: optional(
          textFlag('file', 'write this command as a job, nightly.job.toml, with what it guesses'),
        ),
      },
    },
    'check a sheet and show what it will cost; sends nothing',
    '<sheet> -d <deployment> [flags] | --from <batch> -d <deployment> [flags]',
    EXAMPLES,
  ),
  submit: command(
    async () => (await import('./run/run.ts')).submit,
    { positional: sheet, flags: { ...sheetFlags, ...fromFlags } },
    'check a sheet, start its batch, and print the batch id',
    '<sheet> -d <deployment> [flags] | --from <batch> -d <deployment> [flags]',
    EXAMPLES,
  ),
};

const deployments = command(
  async () => (await import('./servers/deployments.ts')).default,
  {
    positional: positional(
      maybe(argument('deployment', 'name or id of a deployment (default: list all of them)', 'deployments')),
    ),
    flags: flags.deploymentsFlags,
  },
  'list what can be run, or the inputs of one deployment',
);

const WORKER_SETTINGS = [
  'Example',
  '  TEMPORAL_ADDRESS=temporal.example.org:7233 \\',
  '  RUNSHEET_API_URL=https://api.example.org/api RUNSHEET_API_KEY_FILE=api-key \\',
  '  RUNSHEET_OUT=s3://bucket/folder {name} --metrics 9464',
  '',
  'Webhooks: RUNSHEET_WEBHOOK_URL, RUNSHEET_WEBHOOK_LISTEN,',
  'RUNSHEET_WEBHOOK_SECRET_FILE; without them, runs are polled.',
  'All settings, and workers as services: docs/operations.md#settings',
];

const onService = buildRouteMap({
  routes: {
    start: command(
      async () => (await import('./servers/service.ts')).default,
      { flags: flags.serviceFlags },
      'start the local run service: real HTTP, pictures and webhooks, no GPU',
      '[flags]',
      ['With the word servers after it: lists the GPU servers that it knows.'],
    ),
    servers: command(
      async () => (await import('./servers/service-servers.ts')).default,
      { flags: flags.knownServersFlags },
      'list the GPU servers of your own that are known, and forget one',
    ),
  },
  defaultCommand: 'start',
  docs: { brief: 'start the local run service, or list its GPU servers' },
});

const servers = {
  service: onService,
  worker: command(
    async () => (await import('./servers/worker.ts')).default,
    { flags: flags.workerFlags },
    'start a worker for a Temporal cluster',
    undefined,
    WORKER_SETTINGS,
  ),
  codec: command(
    async () => (await import('./servers/codec.ts')).default,
    { flags: flags.codecFlags },
    "decrypt payloads for Temporal's UI and command line",
  ),
  dev: command(
    async () => (await import('./servers/dev.ts')).default,
    { flags: shownFlags },
    'start Temporal, run service, worker and receiver together',
  ),
  doctor: command(
    async () => (await import('./servers/doctor.ts')).default,
    { flags: flags.doctorFlags },
    'check everything that a batch needs',
  ),
  migrateCheck: command(
    async () => (await import('./servers/migrate-check.ts')).default,
    { flags: { deployment: sheetFlags.deployment, ...flags.migrateCheckFlags } },
    'check what a migration from V1 to V2 needs; buys one run',
    '-d <deployment> [flags]',
  ),
  clean: command(
    async () => (await import('./batch/clean.ts')).default,
    { flags: flags.cleanFlags },
    'remove old batches and what refused sheets left behind',
  ),
  trust: command(
    async () => (await import('./trust/trust.ts')).default,
    {
      positional: positional(
        maybe(argument('path', 'a settings file, a state folder (default: runsheet.toml in this folder)')),
      ),
      flags: {
        list: boolean('list what you trust, newest first'),
        forget: boolean('trust it no longer'),
      },
    },
    'accept the settings in the runsheet.toml of a folder',
    '[path] [--forget] | --list',
  ),
  completion: command(
    async () => (await import('./completion/completion.ts')).default,
    { positional: shell, flags: {} },
    'print a completion script for your shell',
    'bash|zsh|fish',
  ),
  embedded: command(
    async () => (await import('./servers/embedded.ts')).default,
    { flags: {} },
    'run the embedded servers',
  ),
};

const shown = { out, output };
const pool = { ...argument('pool', 'name of the pool', 'pools'), parse: valueFrom(nameKind) };
const namedPool = positional(pool);

const onPools = buildRouteMap({
  routes: {
    list: command(async () => (await import('./pool/pool.ts')).list, { flags: shown }, 'list the pools'),
    show: command(
      async () => (await import('./pool/pool.ts')).show,
      { positional: namedPool, flags: shown },
      'show a pool and its batches',
    ),
    set: command(
      async () => (await import('./pool/pool.ts')).set,
      {
        positional: namedPool,
        flags: {
          size: wholeFlag(0, MAX_POOL_SIZE)(
            'n',
            'how many runs of its batches may be in flight at the same time',
          ),
          ...shown,
        },
      },
      'make a pool, or change its size',
      '<pool> --size <n> [flags]',
    ),
    release: command(
      async () => (await import('./pool/pool.ts')).release,
      {
        positional: positional(pool, argument('batch', 'batch id')),
        flags: shown,
      },
      'free the slots of a batch that was terminated and has no more runs',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'share slots between batches' },
});

const name = 'name of a pipeline, or the beginning of one';
const newest = positional(maybe(argument('pipeline', `${name} (default: the newest pipeline)`)));
const named = positional(argument('pipeline', name));

const onPipelines = buildRouteMap({
  routes: {
    list: command(
      async () => (await import('./pipeline/pipeline.ts')).list,
      { flags: shownFlags },
      'list the pipelines and their stages, newest first',
    ),
    show: command(
      async () => (await import('./pipeline/pipeline.ts')).show,
      { positional: newest, flags: shownFlags },
      'show the stages of a pipeline, and what helps where one waits',
    ),
    follow: command(
      async () => (await import('./pipeline/pipeline.ts')).follow,
      { positional: newest, flags: { out, quiet } },
      'continue a pipeline if nothing runs it, and follow it until it ends or waits for you',
    ),
    cancel: command(
      async () => (await import('./pipeline/pipeline.ts')).cancel,
      { positional: named, flags: { out } },
      'start no further stages; cancel running batches and their runs',
    ),
  },
  defaultCommand: 'list',
  docs: { brief: 'run batches in stages: results of one are the sheet of the next' },
});

const pick = command(
  async () => (await import('./pipeline/pick.ts')).default,
  {
    positional: positional(argument('pipeline', name), argument('stage', 'the stage that waits for picks')),
    flags: {
      picks: optional(
        textFlag(
          'file',
          'the rows to take, by its column key or row; the page of a batch saves one as picks.csv',
        ),
      ),
      key: optional(keyList('a,b', 'the keys of the rows to take')),
      row: optional(rowList('rows', 'their numbers, such as 3,17-40')),
      out,
      quiet,
    },
  },
  'choose the rows that a stage of a pipeline goes on with',
  ['--picks <file>', '--key <a,b>', '--row <rows>']
    .map((choice) => `<pipeline> <stage> ${choice}`)
    .join(' | '),
);

const routes = {
  ...onSheets,
  deployments,
  ...onBatches,
  pipeline: onPipelines,
  pick,
  pool: onPools,
  schedule,
  ...servers,
};

const root = buildRouteMap({
  routes,
  docs: {
    brief: 'Runs every row of a sheet as a GPU run, and pays for no row twice by accident.',
    hideRoute: { embedded: true },
  },
});

export const application = buildApplication(root, {
  name: PROGRAM,
  versionInfo: { currentVersion: version },
  scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
  documentation: { caseStyle: 'convert-camel-to-kebab' },
  localization: { text: PARSER_TEXT },
});
