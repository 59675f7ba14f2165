// Lists every command with its arguments, its help and the module that does its work. A module is loaded only when its
// command is chosen, which keeps --help fast.

import { buildApplication, buildRouteMap } from '@stricli/core';
import { onBatches } from './batch/batch-commands.ts';
import { command } from './command.ts';
import { demos } from './demo/demo-commands.ts';
import { onPools } from './pool/pool-commands.ts';
import { alias, maybeOne, shell, withSource } from './flags/positionals.ts';
import {
  age,
  api,
  boolean,
  fromFlags,
  optional,
  out,
  output,
  outputOfRows,
  port,
  repeatable,
  sheetAliases,
  sheetFlags,
  textFlag,
} from './flags/flags.ts';
import { serviceFlags } from './flags/service-flags.ts';
import { schedule } from './schedule/schedule-commands.ts';
import { PARSER_TEXT } from './flags/parser-faults.ts';
import { version } from '../host/package-version.ts';
import { PROGRAM } from './program-name.ts';

const SHEET = 'the sheet: .csv .tsv .xlsx .jsonl .json, its https:// or s3:// address, or - for stdin';
const sheet = maybeOne(`${SHEET}; none with --from`, 'sheet');

const watchFlag = {
  kind: 'boolean',
  optional: true,
  withNegated: false,
  brief: 'follow the sheet too: each save sends the rows that it adds or changes, until Ctrl-C',
} as const;

const demoFlag = {
  kind: 'boolean',
  optional: true,
  withNegated: false,
  hidden: true,
  brief: 'the batch is removed after the command, so no next step is named',
} as const;

const onSheets = {
  run: command(
    async () => (await import('./run/run.ts')).run,
    {
      positional: sheet,
      flags: {
        ...sheetFlags,
        ...fromFlags,
        watch: watchFlag,
        demo: demoFlag,
        output: outputOfRows,
      },
      aliases: sheetAliases,
    },
    'check a sheet, send it, and follow it until every row has an outcome',
    '<sheet> -d <deployment> [flags] | run --from <batch> -d <deployment> [flags]',
  ),
  plan: command(
    async () => (await import('./run/plan.ts')).default,
    {
      positional: maybeOne(`${SHEET}; none with --from`, 'sheet'),
      flags: {
        ...sheetFlags,
        ...fromFlags,
        save: {
          kind: 'boolean',
          default: false,
          withNegated: false,
          brief: 'keep the answers to the guesses: later sheets with these columns need no flags for them',
        },
      },
      aliases: sheetAliases,
    },
    'check a sheet and show the cost, without sending anything',
    '<sheet> -d <deployment> [flags] | plan --from <batch> -d <deployment> [flags]',
  ),
  submit: command(
    async () => (await import('./run/run.ts')).submit,
    { positional: sheet, flags: { ...sheetFlags, ...fromFlags }, aliases: sheetAliases },
    'check a sheet, start its batch, and print the batch id',
    '<sheet> -d <deployment> [flags] | submit --from <batch> -d <deployment> [flags]',
  ),
};

const deployments = command(
  async () => (await import('./servers/deployments.ts')).default,
  {
    positional: withSource(
      maybeOne('name or id of a deployment (default: list all of them)', 'deployment'),
      'deployments',
    ),
    flags: {
      api,
      local: boolean('those of the local run service'),
      sheet: boolean('print a sheet with a column for each input and a row of the defaults'),
      out,
      output,
    },
    aliases: alias,
  },
  'list what can be run; with a name: its inputs, and the command that runs a sheet',
);

const WORKER_SETTINGS = [
  'Example:',
  '  TEMPORAL_ADDRESS=temporal.example.org:7233 RUNSHEET_API_URL=https://api.example.org/api \\',
  '  RUNSHEET_API_KEY_FILE=api-key RUNSHEET_OUT=s3://bucket/folder runsheet worker --metrics 9464',
  '',
  'For webhooks: RUNSHEET_WEBHOOK_URL, RUNSHEET_WEBHOOK_LISTEN, RUNSHEET_WEBHOOK_SECRET_FILE (without them, runs are polled)',
  'All settings, and how to run workers as services: docs/operations.md',
];

const servers = {
  service: command(
    async () => (await import('./servers/service.ts')).default,
    {
      flags: serviceFlags,
      aliases: alias,
    },
    'start the local run service: real HTTP, pictures and webhooks, no GPU',
  ),
  worker: command(
    async () => (await import('./servers/worker.ts')).default,
    {
      flags: {
        noReceiver: boolean('do not start a webhook receiver'),
        receiverOnly: boolean('start only the webhook receiver'),
        metrics: optional(
          textFlag('[host:]port', 'show metrics, /healthz and /readyz there (default host: 127.0.0.1)'),
        ),
        embedded: { ...boolean('run as a child of the embedded servers'), hidden: true },
        receiverPort: { ...optional(port('port', 'port of the receiver')), hidden: true },
      },
    },
    'start a worker for a Temporal cluster',
    undefined,
    WORKER_SETTINGS,
  ),
  dev: command(
    async () => (await import('./servers/dev.ts')).default,
    { flags: { out, output }, aliases: alias },
    'start Temporal, run service, worker and receiver together, until Ctrl-C',
  ),
  doctor: command(
    async () => (await import('./servers/doctor.ts')).default,
    {
      flags: {
        api,
        out,
        cluster: boolean('also ask every worker and receiver of the cluster'),
        output,
      },
      aliases: alias,
    },
    'check everything that a batch needs',
  ),
  migrateCheck: command(
    async () => (await import('./servers/migrate-check.ts')).default,
    {
      flags: {
        deployment: sheetFlags.deployment,
        noRun: boolean('check the rules without buying the verification run'),
        set: repeatable(textFlag('input=value', 'set an input of the verification run')),
        output,
      },
      aliases: { d: 'deployment', o: 'output' },
    },
    'check what a migration from V1 to V2 still needs; buys one run',
    '-d <deployment> [flags]',
  ),
  clean: command(
    async () => (await import('./batch/clean.ts')).default,
    {
      flags: {
        olderThan: optional(
          age('time', 'remove batches that ended longer ago than this, such as 30d (default: none)'),
        ),
        state: boolean("also remove the embedded servers' state; unfinished batches are lost"),
        yes: { ...boolean('remove the paths instead of only listing them') },
        out,
        output,
      },
      aliases: { o: 'output', y: 'yes' },
    },
    'remove old batches and what refused sheets left behind',
  ),
  completion: command(
    async () => (await import('./completion/completion.ts')).default,
    { positional: shell, flags: {} },
    'print a script for your shell that completes commands, flags and names',
    'bash|zsh|fish',
  ),
  embedded: command(
    async () => (await import('./servers/embedded.ts')).default,
    { flags: {} },
    'run the embedded servers',
  ),
};

const routes = { ...onSheets, deployments, ...onBatches, pool: onPools, schedule, ...servers, ...demos };

const EXAMPLES = [
  'run prompts.csv -d portraits --local     rehearse; costs nothing',
  'plan prompts.csv -d portrait-v3          look before you pay',
  'run prompts.csv -d portrait-v3 -c 24     24 runs at the same time',
  'rows --outcome failed -o csv             list the failed rows',
];

const rootOf = (program: string) =>
  buildRouteMap({
    routes,
    docs: {
      brief: 'Runs every row of a sheet as a GPU job, and never pays for the same row twice by accident.',
      fullDescription: [
        'Runs every row of a sheet as a GPU job, and never pays for the same row twice by accident.',
        '',
        'Examples:',
        ...EXAMPLES.map((example) => `  ${program} ${example}`),
        '',
        'Settings: RUNSHEET_API_URL, RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE, RUNSHEET_WEBHOOK_URL, TEMPORAL_ADDRESS',
        'Exit codes: 0 all rows succeeded, 2 usage, 3 some rows did not succeed or migrate-check found a broken rule,',
        '            4 not authenticated, 5 refused: this command sent nothing, 6 a server cannot be reached or a disk is full,',
        '            7 --timeout reached, 8 paused, 130 interrupted',
      ].join('\n'),
      hideRoute: { embedded: true, demoLoop: true },
    },
  });

/** Help names commands as the program was called. */
export const applicationOf = (program: string) =>
  buildApplication(rootOf(program), {
    name: program,
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
    documentation: {
      caseStyle: 'convert-camel-to-kebab',
      useAliasInUsageLine: true,
      onlyRequiredInUsageLine: true,
    },
    localization: { text: PARSER_TEXT },
  });

export const application = applicationOf(PROGRAM);
