// Flags of the commands about servers and this machine.

import { fail } from '../flags/flag-kinds.ts';
import { BEHAVIOURS, SERVICE_DEFAULTS } from '../../run-service/service-settings.ts';
import { isWebAddress } from '../../host/http/web-address.ts';
import {
  age,
  api,
  namedService,
  boolean,
  choice,
  optional,
  optionalChoice,
  out,
  output,
  ownFlags,
  parsed,
  port,
  repeatable,
  shownFlags,
  textFlag,
  wholeFlag,
  workflowFlag,
} from '../flags/flags.ts';
import { count } from '../../options/text/printed-numbers.ts';

const number = wholeFlag(0);
/** Beyond this speed, a simulated second is shorter than the clock can measure. */
const MAX_SPEED = 10_000;

const factorNumber = parsed((input): number => {
  const value = Number(input);
  return value > 0 && value <= MAX_SPEED ? value : fail(`is not a number above 0, up to ${count(MAX_SPEED)}`);
});

const publicAddress = parsed((input): string =>
  isWebAddress(input) ? input : fail('is no address', 'for example --public-url https://runs.studio.example'),
);

/** Flags that start the local run service. */
export const serviceFlags = {
  port: { ...port('port', 'port; 0 chooses a free one'), default: '0' },
  host: {
    ...textFlag('address', 'where it listens; for other machines, such as 0.0.0.0, it needs keys'),
    default: SERVICE_DEFAULTS.host,
  },
  publicUrl: optional(
    publicAddress('url', 'the address by which others reach it: the base of addresses of files and uploads'),
  ),
  tokenFile: optional(
    textFlag('file', 'file with the accepted API keys, one per line (default: one random key)'),
  ),
  // Refused, because every user of the machine can read process arguments.
  token: { ...repeatable(textFlag('key', 'refused: use --token-file')), hidden: true },
  speed: { ...factorNumber('x', 'run x times as fast: every waiting time is divided by x'), default: '1' },
  db: optional(
    textFlag(
      'file',
      'database file, such as runs.db (default: service.db in the state folder in front of real GPUs, else :memory:, which keeps nothing)',
    ),
  ),
  keepFiles: {
    ...age('time', 'how long the files of runs on your own GPUs are kept, at least'),
    default: `${SERVICE_DEFAULTS.keepFilesDays}d`,
  },
  ownerUploads: optional(
    wholeFlag(1)(
      'GiB',
      `how many GiB of uploads each owner may keep, such as 500 (default: ${SERVICE_DEFAULTS.ownerUploadsGib}; one person on this machine: any number)`,
    ),
  ),
  deployments: optional(
    textFlag('file', 'JSON file of deployments and their machines (default: demo deployments)'),
  ),
  fault: repeatable(textFlag('name=rate', 'inject this fault at a rate from 0 to 1, such as busy=0.03')),
  behaviour: choice(
    BEHAVIOURS,
    SERVICE_DEFAULTS.behaviour,
    'behaviour where the specification and the vendor differ',
  ),
  only: optionalChoice(['v1'], 'serve the V1 API only, as before a migration'),
  webhooksAnywhere: boolean('call webhooks on other machines too'),
  seed: { ...number('n', 'seed of the random faults and run times'), default: '1' },
  embedded: { ...boolean('run as a child of the embedded servers'), hidden: true },
  ...ownFlags,
  workflow: repeatable(workflowFlag),
  output,
} as const;

export const deploymentsFlags = {
  api,
  service: namedService,
  local: boolean('list the deployments of the local run service'),
  ...ownFlags,
  sheet: boolean('print a sheet with a column for each input and a row of the defaults'),
  fields: boolean('show every field of a workflow that a column can fill'),
  ...shownFlags,
} as const;

export const workerFlags = {
  noReceiver: boolean('do not start a webhook receiver'),
  receiverOnly: boolean('start only the webhook receiver'),
  metrics: optional(
    textFlag('[host:]port', 'show metrics, /healthz and /readyz there (default host: 127.0.0.1)'),
  ),
  embedded: { ...boolean('run as a child of the embedded servers'), hidden: true },
} as const;

export const doctorFlags = {
  api,
  service: namedService,
  out,
  cluster: boolean('also ask every worker and receiver of the cluster'),
  ...ownFlags,
  output,
} as const;

export const migrateCheckFlags = {
  noRun: boolean('check the rules without buying the verification run'),
  set: repeatable(textFlag('input=value', 'set an input of the verification run')),
  output,
} as const;

export const cleanFlags = {
  olderThan: optional(
    age('time', 'remove batches that ended longer ago than this, such as 30d (default: none)'),
  ),
  state: boolean("also remove the embedded servers' state; unfinished batches are lost"),
  yes: { ...boolean('remove the paths instead of only listing them') },
  ...shownFlags,
} as const;

/** Parses `8234` or `0.0.0.0:8234`. */
function listenAt(text: string): { readonly host: string; readonly port: number } {
  const [portText = '', host = '127.0.0.1'] = text.split(':').toReversed();
  return /^\d{1,5}$/.test(portText) && Number(portText) <= 65_535
    ? { host, port: Number(portText) }
    : fail('is not [host:]port', 'for example --listen 0.0.0.0:8234');
}

export const knownServersFlags = {
  forget: optional(textFlag('url', 'forget this server: no run goes there any more')),
  moved: optional(
    textFlag(
      'old=new',
      'move batches from one server to another, OLD=NEW, where NEW is known already, such as http://10.0.0.5:8188=http://10.0.0.9:8188',
    ),
  ),
  output,
} as const;

export const codecFlags = {
  listen: {
    ...parsed(listenAt)('[host:]port', 'where it listens; put a proxy that speaks TLS in front of it'),
    default: '8234',
  },
  tokenFile: textFlag('file', 'a file with the token that callers send as "Authorization: Bearer …"'),
  origin: repeatable(
    textFlag(
      'url',
      "the address of Temporal's web UI, whose pages may call it, such as https://cloud.temporal.io",
    ),
  ),
} as const;
