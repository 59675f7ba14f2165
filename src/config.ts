// Every setting, read once: flag, environment, project file `runsheet.toml`, user file, in this order. This is the only
// reader of process.env; everything else is handed the frozen result.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { problem, reasonOf } from './errors.ts';
import type { LogLevel } from './log.ts';
import { APIS, type Api } from './run-service/api.ts';
import { keyFromEnvironment, keyFromFile, type ApiKey } from './run-service/key.ts';
import { keepSecret } from './secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''));
const listenAddress = z
  .string()
  .regex(/^(?:[^:]*:)?\d{1,5}$/, 'is not host:port')
  .transform((text) => {
    const [port = '0', host = '127.0.0.1'] = text.split(':').toReversed();
    return { host, port: Number(port) };
  });

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
  local_speed: { variable: 'RUNSHEET_LOCAL_SPEED', schema: z.coerce.number().positive() },
} as const;
type Name = keyof typeof SETTINGS;
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
  /** The user's cache folder of ours. */
  readonly cache: string;
  /** The whole environment, for the processes that we start and for Temporal's own settings. */
  readonly environment: Environment;
};

/** Reads all settings. `flags` are those of the command line, by their name in the files. Throws E602. */
export function loadConfig(
  environment: Environment = process.env,
  flags: Readonly<Partial<Record<Name, string>>> = {},
): Config {
  const values = readSettings(environment, flags);
  keepSecrets(environment, values);
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
    cache: join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'runsheet'),
    environment,
  });
}

/** Before anything can be said of them; those in files are kept by whoever reads the file. */
function keepSecrets(environment: Environment, { api_url, webhook_url }: Values): void {
  const { RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, RUNSHEET_SERVICE_TOKEN } = environment;
  const words = [RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, ...wordsIn(RUNSHEET_SERVICE_TOKEN)];
  for (const word of words) keepSecret(word ?? '');
  for (const address of [api_url, webhook_url]) if (address) keepSecret(new URL(address).password);
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
    if (given !== undefined) values[name] = checked(schema, given[0], given[1]);
  }
  return values;
}

function checked(schema: z.ZodType, from: string, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw problem('E602', {
    what: `${from} is ${JSON.stringify(value)}: ${parsed.error.issues[0]?.message ?? 'not valid'}`,
  });
}

function readSettingsFile(path: string): {
  readonly path: string;
  readonly table: Readonly<Record<string, unknown>>;
} {
  if (!existsSync(path)) return { path, table: {} };
  try {
    return { path, table: parseToml(readFileSync(path, 'utf8')) };
  } catch (error) {
    throw problem('E602', { what: `${path} cannot be read: ${reasonOf(error)}` }, { cause: error });
  }
}

function apiKeyFrom(environment: Environment, file: string | undefined): ApiKey | undefined {
  const key = environment['RUNSHEET_API_KEY'];
  if (key) return keyFromEnvironment(key, 'RUNSHEET_API_KEY');
  return file === undefined ? undefined : keyFromFile(file, 'RUNSHEET_API_KEY_FILE');
}
