// Every setting, read once: flag, environment, project file `runsheet.toml`, user file, in this order. This is the only
// reader of process.env; everything else is handed the frozen result.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { z } from 'zod';
import { nearest, problem, errorMessage, type RunsheetError } from '../errors/error.ts';
import { meaningOf } from '../errors/file-fault.ts';
import type { LogLevel } from './log.ts';
import { APIS, type Api } from './api-version.ts';
import { keyFromEnvironment, keyFromFile, type ApiKey } from './api-key.ts';
import { keepSecret } from '../errors/redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const HAS_PASSWORD = 'has a user or a password in it, which would stand in batch.json and in logs';

const url = z
  .url({ protocol: /^https?$/, error: 'is no http or https address' })
  .refine((text) => isPlainUrl(text, ({ username, password }) => username + password === ''), HAS_PASSWORD)
  .refine((text) => isPlainUrl(text, ({ search, hash }) => search + hash === ''), 'has a ? or # in it')
  .transform((text) => text.replace(/\/+$/, ''));
const isPlainUrl = (text: string, isPlain: (url: URL) => boolean): boolean =>
  URL.canParse(text) && isPlain(new URL(text));

const MOST_PORT = 65_535;
const listenAddress = z
  .string()
  .regex(/^(?:[^:]*:)?\d{1,5}$/, 'is not host:port')
  .transform((text) => {
    const [port = '0', host = '127.0.0.1'] = text.split(':').toReversed();
    return { host, port: Number(port) };
  })
  .refine(({ port }) => port <= MOST_PORT, `has a port above ${MOST_PORT}`);

/** Beyond it a second of life takes less than the clock can tell. */
const SPEED_MOST = 10_000;

/** Name in the files → variable and meaning. Secrets have no name in the files. */
const SETTINGS = {
  home: { variable: 'RUNSHEET_HOME', schema: z.string().min(1) },
  out: { variable: 'RUNSHEET_OUT', schema: z.string().min(1) },
  api_url: { variable: 'RUNSHEET_API_URL', schema: url },
  api: { variable: 'RUNSHEET_API', schema: z.enum(APIS) },
  api_key_file: { variable: 'RUNSHEET_API_KEY_FILE', schema: z.string().min(1) },
  webhook_url: { variable: 'RUNSHEET_WEBHOOK_URL', schema: url },
  webhook_listen: { variable: 'RUNSHEET_WEBHOOK_LISTEN', schema: listenAddress },
  payload_key_file: { variable: 'RUNSHEET_PAYLOAD_KEY_FILE', schema: z.string().min(1) },
  payload_plain: { variable: 'RUNSHEET_PAYLOAD_PLAIN', schema: z.enum(['refuse', 'read']) },
  webhook_secret_file: { variable: 'RUNSHEET_WEBHOOK_SECRET_FILE', schema: z.string().min(1) },
  task_queue: { variable: 'RUNSHEET_TASK_QUEUE', schema: z.string().min(1) },
  log_level: { variable: 'RUNSHEET_LOG_LEVEL', schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']) },
  local_speed: { variable: 'RUNSHEET_LOCAL_SPEED', schema: z.coerce.number().positive().max(SPEED_MOST) },
} as const;
type Name = keyof typeof SETTINGS;

/** What helps where a setting is wrong. */
const HINTS: Readonly<Partial<Record<Name, string>>> = {
  api_url:
    'the base address with its path alone, such as https://…/api; the key goes into RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE',
  webhook_url:
    'the address of the receiver alone, such as https://example.org; webhooks are signed with RUNSHEET_WEBHOOK_SECRET, so that it needs no password',
  webhook_listen: 'for example :8088 or 0.0.0.0:8088',
  local_speed: 'how many times as fast as life, for example 10',
};

/** Secrets are settings of the environment alone, or stand in a file of their own. */
const SECRET_VARIABLES = [
  'RUNSHEET_API_KEY',
  'RUNSHEET_WEBHOOK_SECRET',
  'RUNSHEET_PAYLOAD_KEY',
  'RUNSHEET_SERVICE_TOKEN',
] as const;
type Values = { readonly [K in Name]?: z.output<(typeof SETTINGS)[K]['schema']> };

export type Config = {
  /** State of this place: embedded servers, secrets, logs. Absolute. */
  readonly home: string;
  /** Where batch folders lie. Absolute. */
  readonly out: string;
  /** The run service's base address, of the API that `api` says. */
  readonly apiUrl: string | undefined;
  readonly api: Api;
  /** undefined where no key is set. Throws where its file cannot be read. */
  readonly apiKey: () => ApiKey | undefined;
  readonly webhook: {
    /** Where the run service reaches our receiver. */
    readonly url: string | undefined;
    readonly listen: { readonly host: string; readonly port: number } | undefined;
    readonly secret: string | undefined;
    readonly secretFile: string | undefined;
  };
  /** What encrypts all that Temporal is given. */
  readonly payload: {
    readonly keys: string | undefined;
    readonly keysFile: string | undefined;
    /** Whether plain payloads are read where there is a key. */
    readonly plain: 'refuse' | 'read';
  };
  readonly taskQueue: string | undefined;
  readonly logLevel: LogLevel;
  /** The tokens that the local run service takes, where an argument list would show them. */
  readonly serviceTokens: readonly string[];
  /** How much faster than life the local run service lives when `--local` starts it. */
  readonly localSpeed: number;
  /** The user's cache folder of ours. Absolute. */
  readonly cache: string;
  /** The whole environment, for the processes that we start and for Temporal's own settings. */
  readonly environment: Environment;
};

/** Reads all settings. `flags` are those of the command line, by their name in the files. Throws E602. */
export function loadConfig(
  environment: Environment = process.env,
  flags: Readonly<Partial<Record<Name, string>>> = {},
): Config {
  keepSecrets(environment);
  refuseVariables(environment);
  const values = readSettings(environment, flags);
  const at = (path: string): string => resolve(path);
  return Object.freeze({
    home: at(values.home ?? '.runsheet'),
    out: at(values.out ?? 'batches'),
    apiUrl: values.api_url,
    api: values.api ?? 'v2',
    apiKey: () => apiKeyFrom(environment, values.api_key_file),
    webhook: {
      url: values.webhook_url,
      listen: values.webhook_listen,
      secret: environment['RUNSHEET_WEBHOOK_SECRET'] || undefined,
      secretFile: values.webhook_secret_file,
    },
    payload: {
      keys: environment['RUNSHEET_PAYLOAD_KEY'] || undefined,
      keysFile: values.payload_key_file,
      plain: values.payload_plain ?? 'refuse',
    },
    taskQueue: values.task_queue,
    serviceTokens: wordsIn(environment['RUNSHEET_SERVICE_TOKEN']),
    logLevel: values.log_level ?? 'warn',
    localSpeed: values.local_speed ?? 10,
    cache: resolve(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'runsheet'),
    environment,
  });
}

/** Before anything can be said of them; those in files are kept by whoever reads the file. */
function keepSecrets(environment: Environment): void {
  const { RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, RUNSHEET_SERVICE_TOKEN } = environment;
  const words = [RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, ...wordsIn(RUNSHEET_SERVICE_TOKEN)];
  for (const word of words) keepSecret(word ?? '');
}

const PREFIX = 'RUNSHEET_';
const VARIABLES: readonly string[] = [
  ...Object.values(SETTINGS).map(({ variable }) => variable),
  ...SECRET_VARIABLES,
];

/** A slip in a variable's name would leave its setting out without a word. Names that are like none are somebody else's. */
function refuseVariables(environment: Environment): void {
  const known = VARIABLES.map((name) => name.slice(PREFIX.length));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || VARIABLES.includes(name)) continue;
    const near = nearest(name.slice(PREFIX.length), known, 2);
    if (near !== undefined)
      throw problem('E602', { what: `there is no setting ${name}`, hint: `did you mean ${PREFIX}${near}?` });
  }
}

const wordsIn = (list: string | undefined): readonly string[] => (list ?? '').split(',').filter(Boolean);

function readSettings(environment: Environment, flags: Readonly<Partial<Record<Name, string>>>): Values {
  const files = [
    resolve('runsheet.toml'),
    join(environment['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'runsheet', 'config.toml'),
  ].map(readSettingsFile);
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(SETTINGS) as Name[]) {
    const { variable, schema } = SETTINGS[name];
    const sources: readonly (readonly [from: string, value: unknown])[] = [
      [`--${name.replaceAll('_', '-')}`, flags[name]],
      [variable, environment[variable] || undefined],
      ...files.map(({ path, table }) => [`${name} in ${path}`, table[name]] as const),
    ];
    const given = sources.find(([, value]) => value !== undefined);
    if (given !== undefined) values[name] = checked(schema, given[0], given[1], HINTS[name]);
  }
  return values;
}

function checked(schema: z.ZodType, from: string, value: unknown, hint: string | undefined): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const given = typeof value === 'string' ? JSON.stringify(value) : String(value);
  // What stands before the @ of an address may be a password.
  const shown = given.replace(/^.*@/s, '"[secret]@');
  throw problem('E602', {
    what: `${from} is ${shown}: ${parsed.error.issues[0]?.message ?? 'not valid'}`,
    ...(hint !== undefined && { hint }),
  });
}

type SettingsFile = { readonly path: string; readonly table: Readonly<Record<string, unknown>> };

function readSettingsFile(path: string): SettingsFile {
  const text = settingsIn(path);
  if (text === undefined) return { path, table: {} };
  let table: SettingsFile['table'];
  try {
    table = parseToml(text);
  } catch (error) {
    // Below its first line the message shows the lines of the file, and one may hold a password.
    const [words] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    throw unreadable(path, `${words}${where}`, error);
  }
  for (const name of Object.keys(table)) if (!Object.hasOwn(SETTINGS, name)) throw unknownName(path, name);
  return { path, table };
}

function settingsIn(path: string): string | undefined {
  try {
    if (!existsSync(path)) return undefined;
    refuseForeign(statSync(path));
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, meaningOf(error) ?? errorMessage(error), error);
  }
}

/** It could send our key elsewhere. Root is spared: in a container it works in folders of whoever started that. */
function refuseForeign({ uid }: { readonly uid: number }): void {
  const ours = process.geteuid?.() ?? 0;
  if (ours !== 0 && uid !== ours && uid !== 0) throw new Error('it belongs to another user of this machine');
}

const unreadable = (path: string, why: string, cause: unknown): RunsheetError =>
  problem('E602', { what: `${path} cannot be read: ${why}`, hint: 'mend it or take it away' }, { cause });

function unknownName(path: string, name: string): RunsheetError {
  const what = `${path} has the name ${JSON.stringify(name)}, which is no setting`;
  const names = Object.keys(SETTINGS);
  const isSecret = (SECRET_VARIABLES as readonly string[]).includes(`${PREFIX}${name.toUpperCase()}`);
  const secretHint = `a secret does not stand here: ${name}_file names the file that holds it, or set ${PREFIX}${name.toUpperCase()}`;
  if (isSecret) return problem('E602', { what, hint: secretHint });
  const near = nearest(name, names);
  return problem('E602', {
    what,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}names: ${names.join(', ')}`,
  });
}

function apiKeyFrom(environment: Environment, file: string | undefined): ApiKey | undefined {
  const key = environment['RUNSHEET_API_KEY'];
  if (key) return keyFromEnvironment(key, 'RUNSHEET_API_KEY');
  return file === undefined ? undefined : keyFromFile(file, 'RUNSHEET_API_KEY_FILE');
}
