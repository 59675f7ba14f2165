// Reads every setting once, from flags, environment, `runsheet.toml` and the user's file, strongest first. Only this file
// reads process.env; all other code receives the frozen result.

import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { z } from 'zod';
import { errorMessage, hintAmong, nearest, problem, type RunsheetError } from '../errors/error.ts';
import { meaningOf } from '../errors/file-fault.ts';
import { keepSecret } from '../errors/redact.ts';
import { keyFromSettings, type ApiKey } from './api-key.ts';
import { APIS } from './api-version.ts';
import { chosenService, namedServices, type NamedService } from './named-services.ts';
import { MEMBER_SETTINGS, memberSettings } from './member-settings.ts';
import { notifySettings } from './notify-settings.ts';
import { takeProxies } from './proxies.ts';
import { isSameService, plainAddress } from './service-address.ts';
import { takeS3Settings, resolveOut, s3PlaceOf } from './s3-keys.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const HAS_PASSWORD = 'contains a user name or password, which would appear in batch.json and in logs';

const url = z
  .url({ protocol: /^https?$/, error: 'is not an http or https URL' })
  .refine((text) => isPlainUrl(text, ({ username, password }) => username + password === ''), HAS_PASSWORD)
  .refine((text) => isPlainUrl(text, ({ search, hash }) => search + hash === ''), 'contains ? or #')
  .transform(plainAddress);
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

/** At a higher speed a second takes less time than the clock can measure. */
const SPEED_MOST = 10_000;

/** By their names in the files; the variable of `api_url` is RUNSHEET_API_URL. Secrets have no name in the files. */
const SETTINGS = {
  home: z.string().min(1),
  out: z.string().min(1),
  /** Where the workers of a cluster read sheets, besides `out`. */
  sheets: z.string().min(1),
  api_url: url,
  api: z.enum(APIS),
  api_key_file: z.string().min(1),
  webhook_url: url,
  webhook_listen: listenAddress,
  payload_key_file: z.string().min(1),
  payload_plain: z.enum(['refuse', 'read']),
  webhook_secret_file: z.string().min(1),
  ...MEMBER_SETTINGS,
  task_queue: z.string().min(1),
  metrics: listenAddress,
  search_attributes: z.enum(['on', 'off']),
  log_level: z.enum(['debug', 'info', 'warn', 'error', 'silent']),
  /** Programs that notifications may start on a worker of a cluster, by their paths. */
  notify_exec: z.string().min(1),
  smtp_from: z.string().regex(/^[^\r\n]+@[^\r\n]+$/, 'is no mail address'),
  local_speed: z.coerce.number().positive().max(SPEED_MOST),
} as const;
type Name = keyof typeof SETTINGS;

const HINTS: Readonly<Partial<Record<Name, string>>> = {
  api_url:
    'use only the base address and its path, such as https://…/api; the key belongs in RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE',
  webhook_url:
    'use only the address of the receiver, such as https://example.org; it needs no password, because RUNSHEET_WEBHOOK_SECRET signs webhooks',
  webhook_listen: 'examples: :8088, 0.0.0.0:8088',
  metrics: 'examples: 9464 (only this machine), 0.0.0.0:9464',
  local_speed: 'the speed of the local run service; 10 is ten times as fast as real time',
};

/** Secrets come from the environment or from files of their own, never from a settings file. */
const SECRET_VARIABLES = [
  'RUNSHEET_API_KEY',
  'RUNSHEET_WEBHOOK_SECRET',
  'RUNSHEET_PAYLOAD_KEY',
  'RUNSHEET_SERVICE_TOKEN',
  'RUNSHEET_NOTIFY_SECRET',
  'RUNSHEET_NOTIFY_URL',
  'RUNSHEET_SLACK_WEBHOOK',
  'RUNSHEET_SMTP_URL',
] as const;
type Values = { readonly [K in Name]?: z.output<(typeof SETTINGS)[K]> };

/** Reads all settings. `flags` has command line flags by their name in the files. Throws E602. */
export function loadConfig(
  environment: Environment = process.env,
  flags: Readonly<Partial<Record<Name | 'service', string>>> = {},
) {
  keepSecrets(environment);
  refuseVariables(environment);
  const files = settingsFiles(environment);
  const values = readSettings(environment, flags, files);
  const services = namedServices(files, url);
  const service = flags.service ?? (environment['RUNSHEET_SERVICE'] || undefined);
  const chosen = chosenService(services, service);
  const apiUrl = chosen?.api_url ?? values.api_url;
  const home = resolve(values.home ?? '.runsheet');
  const cache = resolve(cacheFolder(environment, home));
  const out = resolveOut(values.out ?? 'batches', flags.out === undefined ? 'RUNSHEET_OUT' : '--out');
  takeS3Settings(environment, s3PlaceOf(out)?.bucket ?? '');
  return Object.freeze({
    /** Folder of the embedded servers' state, secrets and logs. Absolute. */
    home,
    /** Folder of the batch folders: an absolute path, or an s3:// address. */
    out,
    /** Where the workers of a cluster read sheets, besides `out`: absolute paths, and s3:// addresses. */
    sheets: wordsIn(values.sheets).map((place) => resolveOut(place.trim(), 'RUNSHEET_SHEETS')),
    /** The run service's base address for the API version `api`. */
    apiUrl,
    api: chosen?.api ?? values.api ?? 'v2',
    service,
    ...keysOf(services, environment, { ...values, chosen: apiUrl, isNamed: service !== undefined }),
    webhook: {
      /** The receiver's address as the run service sees it. */
      url: values.webhook_url,
      listen: values.webhook_listen,
      secret: environment['RUNSHEET_WEBHOOK_SECRET'] || undefined,
      secretFile: values.webhook_secret_file,
    },
    /** Encryption of all payloads sent to Temporal. */
    payload: {
      keys: environment['RUNSHEET_PAYLOAD_KEY'] || undefined,
      keysFile: values.payload_key_file,
      /** Whether unencrypted payloads are accepted although a key is set. */
      plain: values.payload_plain ?? 'refuse',
    },
    notify: notifySettings(environment, values),
    proxies: takeProxies(environment),
    taskQueue: values.task_queue,
    member: memberSettings(values, environment),
    metrics: values.metrics,
    /** Whether Temporal can search batches; undefined: unless payloads are encrypted. */
    searchAttributes: values.search_attributes,
    /** API keys of the local run service, which an argument list would expose. */
    serviceTokens: wordsIn(environment['RUNSHEET_SERVICE_TOKEN']),
    logLevel: values.log_level ?? 'warn',
    /** Speed of the local run service that `--local` starts, relative to real time. */
    localSpeed: values.local_speed ?? 10,
    /** runsheet's cache folder of this user. Absolute. */
    cache,
    /** Where this user's batches on this machine are. Absolute. */
    places: join(usersFolder(environment, home), 'places'),
    environment,
  });
}

type Chosen = { readonly chosen: string | undefined; readonly isNamed: boolean };

/** Every process has the keys of all services, because a batch goes on with the one that it was made for. */
const keysOf = (
  services: ReadonlyMap<string, NamedService>,
  environment: Environment,
  { api_url, api_key_file, chosen, isNamed }: Values & Chosen,
) => ({
  /** The name of the service at `base`, if it has one. */
  serviceAt: (base: string) => [...services].find(([, one]) => isAt(base, one.api_url))?.[0],
  /** Of the service at `base` (default: the chosen one); undefined if none is set. Throws if its file cannot be read. */
  apiKey: (base: string | undefined = chosen): ApiKey | undefined => {
    const named = [...services.values()].find((one) => isAt(base, one.api_url));
    const ofName = (): ApiKey | undefined => keyFromSettings(undefined, named?.api_key_file);
    const own = (): ApiKey | undefined =>
      isAt(base, api_url) ? keyFromSettings(environment['RUNSHEET_API_KEY'], api_key_file) : undefined;
    // Of two keys for one address, a name that is given chooses.
    return isNamed && isAt(base, chosen) ? ofName() : (own() ?? ofName());
  },
});

/** An older release may have written the address in another way. */
const isAt = (base: string | undefined, set: string | undefined): boolean =>
  base !== undefined && set !== undefined && isSameService({ base }, { base: set });

export type Config = ReturnType<typeof loadConfig>;

/** The settings with other values of some variables, for a program that sets them itself. */
export const loadConfigWith = (changed: Environment): Config => loadConfig({ ...process.env, ...changed });

/** Registers secrets for redaction before any message can contain them. */
function keepSecrets(environment: Environment): void {
  const { RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, RUNSHEET_SERVICE_TOKEN } = environment;
  const words = [RUNSHEET_API_KEY, RUNSHEET_WEBHOOK_SECRET, ...wordsIn(RUNSHEET_SERVICE_TOKEN)];
  for (const word of words) keepSecret(word ?? '');
}

const PREFIX = 'RUNSHEET_';
const NAMES = Object.keys(SETTINGS) as Name[];
const variableOf = (name: string): string => `${PREFIX}${name.toUpperCase()}`;
export const VARIABLES: readonly string[] = [...[...NAMES, 'service'].map(variableOf), ...SECRET_VARIABLES];

/** A misspelt variable would be ignored silently. Names that resemble no setting belong to other programs. */
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

/** The strongest first. */
function settingsFiles(environment: Environment): readonly SettingsFile[] {
  const users = configFolder(environment);
  const own = users === undefined ? [] : [join(users, 'runsheet', 'config.toml')];
  return [resolve('runsheet.toml'), ...own].map(readSettingsFile);
}

function readSettings(
  environment: Environment,
  flags: Readonly<Partial<Record<Name, string>>>,
  files: readonly SettingsFile[],
): Values {
  const values: Record<string, unknown> = {};
  for (const name of NAMES) {
    const variable = variableOf(name);
    const sources: readonly (readonly [from: string, value: unknown])[] = [
      [`--${name.replaceAll('_', '-')}`, flags[name]],
      [variable, environment[variable] || undefined],
      ...files.map(({ path, table }) => [`${name} in ${path}`, table[name]] as const),
    ];
    const given = sources.find(([, value]) => value !== undefined);
    if (given !== undefined) values[name] = checked(SETTINGS[name], given[0], given[1], HINTS[name]);
  }
  return values;
}

function checked(schema: z.ZodType, from: string, value: unknown, hint: string | undefined): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const given = typeof value === 'string' ? JSON.stringify(value) : String(value);
  // The part of a URL before @ may be a password.
  const shown = given.replace(/^.*@/s, '"[secret]@');
  throw problem('E602', {
    what: `${from} is ${shown}: ${parsed.error.issues[0]?.message ?? 'not valid'}`,
    ...(hint !== undefined && { hint }),
  });
}

/** The folders of this user for settings and caches. In a container the user may have no home, or one that cannot be written. */
/** undefined without a home. */
const configFolder = ({ XDG_CONFIG_HOME: given }: Environment) => given || inHome('.config');

/** The user's, unless there is none and none can be made: then one in the state folder. */
function cacheFolder({ XDG_CACHE_HOME: given }: Environment, stateFolder: string): string {
  const users = given || inHome('.cache');
  const own = users && join(users, 'runsheet');
  return own !== undefined && (given || existsSync(own) || canMake(own)) ? own : join(stateFolder, 'cache');
}

/** The user's, unless it cannot be written: the state folder is another one in each working directory. */
function usersFolder({ XDG_STATE_HOME: given }: Environment, own: string): string {
  const users = given || inHome(join('.local', 'state'));
  const folder = users && join(users, 'runsheet');
  return folder !== undefined && canMake(folder) ? folder : own;
}

function inHome(name: string): string | undefined {
  try {
    return join(homedir(), name);
  } catch {
    return undefined;
  }
}

function canMake(folder: string): boolean {
  const parent = dirname(folder);
  if (!existsSync(folder) && parent !== folder) return canMake(parent);
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reads a settings file, `runsheet.toml` or that of the user, and refuses names that are no settings. */
type SettingsFile = { readonly path: string; readonly table: Readonly<Record<string, unknown>> };

/** An empty table if there is no such file. Throws E602 if it cannot be read or has another name in it. */
function readSettingsFile(path: string): SettingsFile {
  const text = settingsIn(path);
  if (text === undefined) return { path, table: {} };
  let table: SettingsFile['table'];
  try {
    table = parseToml(text);
  } catch (error) {
    // The further lines of the message quote the file, which may contain a password.
    const [firstLine] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    throw unreadable(path, `${firstLine}${where}`, error);
  }
  for (const name of Object.keys(table))
    if (name !== 'service' && !Object.hasOwn(SETTINGS, name)) throw unknownName(path, name);
  return { path, table };
}

function settingsIn(path: string): string | undefined {
  try {
    // The same file is checked and read, whatever the name stands for meanwhile.
    const file = openSync(path, 'r');
    try {
      refuseForeign(fstatSync(file));
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, meaningOf(error) ?? errorMessage(error), error);
  }
}

/** Another user's settings could send our key elsewhere. Root is allowed: a container often runs as root in a user's folder. */
function refuseForeign({ uid }: { readonly uid: number }): void {
  const ours = process.geteuid?.() ?? 0;
  if (ours !== 0 && uid !== ours && uid !== 0) throw new Error('it belongs to another user of this machine');
}

const unreadable = (path: string, why: string, cause: unknown): RunsheetError =>
  problem(
    'E602',
    { what: `${path} cannot be read: ${why}`, hint: 'correct the file or delete it' },
    { cause },
  );

function unknownName(path: string, name: string): RunsheetError {
  const what = `${path} contains ${JSON.stringify(name)}, which is not a setting`;
  const variable = variableOf(name);
  if (SECRET_VARIABLES.some((secret) => secret === variable)) {
    const file = Object.hasOwn(SETTINGS, `${name}_file`);
    const hint = `secrets are not allowed in this file: ${file ? `use ${name}_file with the path of a file that contains it, or ` : ''}set ${variable}`;
    return problem('E602', { what, hint });
  }
  return problem('E602', { what, hint: hintAmong(name, 'names', NAMES) });
}
