// Lists every command with its arguments, its help and the module that does its work. A module is loaded only when its
// command is chosen, which keeps --help fast.

import { buildApplication, buildRouteMap } from '@stricli/core';
import { onBatches } from './batch/batch-commands.ts';
import { command } from './command.ts';
import { demos } from './demo/demo-commands.ts';
import { onPools } from './pool/pool-commands.ts';
import { argument, maybe, positional, shell } from './flags/positionals.ts';
import { fromFlags, optional, textFlag, runFlags, sheetFlags, shownFlags } from './flags/flags.ts';
import * as flags from './servers/server-flags.ts';
import { schedule } from './schedule/schedule-commands.ts';
import { PARSER_TEXT } from './flags/parser-faults.ts';
import { version } from '../host/package-version.ts';
import { PROGRAM } from '../host/program-name.ts';

const SHEET = 'a file, an https:// or s3:// address, or - for stdin';
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
    'check a sheet, send it, and follow it until every row has an outcome',
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
        write: optional(
          textFlag('file', 'write this command as a job, nightly.job.toml, with what it guesses'),
        ),
      },
    },
    'check a sheet and show the cost, without sending anything',
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
  'list what can be run; with a name: its inputs, and the command that runs a sheet',
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

const servers = {
  service: command(
    async () => (await import('./servers/service.ts')).default,
    { flags: flags.serviceFlags },
    'start the local run service: real HTTP, pictures and webhooks, no GPU',
  ),
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
    'start Temporal, run service, worker and receiver together, until Ctrl-C',
  ),
  doctor: command(
    async () => (await import('./servers/doctor.ts')).default,
    { flags: flags.doctorFlags },
    'check everything that a batch needs',
  ),
  migrateCheck: command(
    async () => (await import('./servers/migrate-check.ts')).default,
    { flags: { deployment: sheetFlags.deployment, ...flags.migrateCheckFlags } },
    'check what a migration from V1 to V2 still needs; buys one run',
    '-d <deployment> [flags]',
  ),
  clean: command(
    async () => (await import('./batch/clean.ts')).default,
    { flags: flags.cleanFlags },
    'remove old batches and what refused sheets left behind',
  ),
  completion: command(
    async () => (await import('./completion/completion.ts')).default,
    { positional: shell, flags: {} },
    'print a script for your shell that completes commands, flags and names',
    'bash|zsh|fish',
  ),
  embedded: command(
    async () => (await import('./servers/dev.ts')).embedded,
    { flags: {} },
    'run the embedded servers',
  ),
};

const routes = { ...onSheets, deployments, ...onBatches, pool: onPools, schedule, ...servers, ...demos };

const root = buildRouteMap({
  routes,
  docs: {
    brief: 'Runs every row of a sheet as a GPU job, and never pays for the same row twice by accident.',
    hideRoute: { embedded: true, demoLoop: true },
  },
});

export const application = buildApplication(root, {
  name: PROGRAM,
  versionInfo: { currentVersion: version },
  scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
  documentation: { caseStyle: 'convert-camel-to-kebab' },
  localization: { text: PARSER_TEXT },
});
