// Reads every setting once, from flags, environment, `runsheet.toml` and the user's file, strongest first. Only this file reads
// process.env; all other code receives the frozen result.

import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { nearest, problem } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { APIS } from '../api-version.ts';
import { namedServices } from './named-services.ts';
import { MEMBER_SETTINGS, memberSettings } from './member-settings.ts';
import { notifySettings } from './notify-settings.ts';
import { takeProxies } from './proxies.ts';
import { plainAddress } from '../service-address.ts';
import { resolveOut, s3PlaceOf } from '../s3-address.ts';
import { takeS3Settings } from './s3-settings.ts';
import { serviceKeys } from './service-keys.ts';
import {
  foldersChoices,
  refuseUntrusted,
  settingsFiles,
  type KnownNames,
  type SettingsFile,
} from './settings-files.ts';
import { refuseUnknown, setNotes } from '../state-folder.ts';
import type { TrustSubject } from './trust-notes.ts';
import { cacheFolder, notesFolder, usersFolder, type Environment } from '../user-folders.ts';

const HAS_PASSWORD = 'contains a user name or password, which would appear in batch.json and in logs';

const url = z
  .url({ protocol: /^https?$/, error: 'is not an http or https URL' })
  .refine((text) => isPlainUrl(text, ({ username, password }) => username + password === ''), HAS_PASSWORD)
  .refine((text) => isPlainUrl(text, ({ search, hash }) => search + hash === ''), 'contains ? or #')
  .transform(plainAddress);
const isPlainUrl = (text: string, isPlain: (url: URL) => boolean): boolean =>
  URL.canParse(text) && isPlain(new URL(text));

const MAX_PORT = 65_535;
const listenAddress = z
  .string()
  .regex(/^(?:[^:]*:)?\d{1,5}$/, 'is not host:port')
  .transform((text) => {
    const [port = '0', host = '127.0.0.1'] = text.split(':').toReversed();
    return { host, port: Number(port) };
  })
  .refine(({ port }) => port <= MAX_PORT, `has a port above ${MAX_PORT}`);

/** At a higher speed, a second takes less time than the clock can measure. */
const MAX_SPEED = 10_000;

/** Settings by their names in the files; the variable of `api_url` is RUNSHEET_API_URL. Secrets are not allowed in the files. */
const SETTINGS = {
  home: z.string().min(1),
  out: z.string().min(1),
  /** The folders from which the workers of a cluster read sheets, besides `out`. */
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
  /** The paths of programs that notifications may start on a worker of a cluster. */
  notify_exec: z.string().min(1),
  smtp_from: z.string().regex(/^[^\r\n]+@[^\r\n]+$/, 'is no mail address'),
  local_speed: z.coerce.number().positive().max(MAX_SPEED),
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
type SettingValues = { readonly [K in Name]?: z.output<(typeof SETTINGS)[K]> };

/**
 * Reads all settings. `flags` holds command line flags by their names in the files. Throws E602 for an invalid setting, and E615
 * for a file that is not trusted yet.
 */
export function loadConfig(
  environment: Environment = process.env,
  flags: Readonly<Partial<Record<Name | 'service', string>>> = {},
) {
  keepSecrets(environment);
  refuseVariables(environment);
  const files = settingsFiles(environment, KNOWN);
  const layers = layersOf(environment, flags, files);
  const services = namedServices(files, url);
  refuseUntrusted(files, environment);
  const values: SettingValues = { ...layers.own, ...layers.folder, ...layers.command };
  const { home, notes } = stateFolderOf(environment, layers);
  const out = resolveOut(values.out ?? 'batches', flags.out === undefined ? 'RUNSHEET_OUT' : '--out');
  takeS3Settings(environment, s3PlaceOf(out)?.bucket ?? '');
  return Object.freeze({
    /** The absolute folder of the embedded servers' state, secrets and logs. Throws E606 if it may come from a stranger. */
    get home() {
      refuseUnknown(home);
      return home;
    },
    /** The folder of the batch folders: an absolute path, or an s3:// address. */
    out,
    /** Whether a setting names `out`. The content of `batches` in the current folder may have been downloaded with it. */
    isOutNamed: values.out !== undefined,
    /** The places from which the workers of a cluster read sheets, besides `out`: absolute paths and s3:// addresses. */
    sheets: wordsIn(values.sheets).map((place) => resolveOut(place.trim(), 'RUNSHEET_SHEETS')),
    ...serviceKeys({
      ...layers,
      services,
      service: flags.service ?? (environment['RUNSHEET_SERVICE'] || undefined),
      ownKey: environment['RUNSHEET_API_KEY'],
      within: process.cwd(),
    }),
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
    /** Whether Temporal can search batches. undefined means yes, unless payloads are encrypted. */
    searchAttributes: values.search_attributes,
    /** API keys of the local run service, which a list of arguments would expose. */
    serviceTokens: wordsIn(environment['RUNSHEET_SERVICE_TOKEN']),
    logLevel: values.log_level ?? 'warn',
    /** Speed of the local run service that `--local` starts, relative to real time. */
    localSpeed: values.local_speed ?? 10,
    /** The absolute path of this user's cache folder for runsheet. */
    cache: resolve(cacheFolder(environment, notes ?? home)),
    /** The absolute path of the folder that lists this user's batches on this machine. */
    places: join(usersFolder(environment) ?? home, 'places'),
    environment,
  });
}

export type Config = ReturnType<typeof loadConfig>;

/** The settings with changed variables, for a program that sets them itself. */
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

const KNOWN: KnownNames = {
  names: NAMES,
  isSecret: (name) => SECRET_VARIABLES.some((secret) => secret === variableOf(name)),
  variableOf,
};

/** The choices of a `runsheet.toml` that need trust; undefined if there are none. Throws E602. */
export const choicesIn = (path: string): TrustSubject | undefined => foldersChoices(path, KNOWN);

/** The folder of notes about what this user trusts. */
export const ownNotes = (environment: Environment = process.env): string => notesFolder(environment);

/** A misspelt variable would be ignored silently. Names that resemble no setting belong to other programs. */
function refuseVariables(environment: Environment): void {
  const suffixes = VARIABLES.map((name) => name.slice(PREFIX.length));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || VARIABLES.includes(name)) continue;
    const near = nearest(name.slice(PREFIX.length), suffixes, 2);
    if (near !== undefined)
      throw problem('E602', { what: `there is no setting ${name}`, hint: `did you mean ${PREFIX}${near}?` });
  }
}

const wordsIn = (list: string | undefined): readonly string[] => (list ?? '').split(',').filter(Boolean);

/** `command`: flags and variables. `own`: the user's file. `folder`: the trusted file of the current folder. */
export type Layers = Readonly<Record<'command' | 'own' | 'folder', SettingValues>>;

function layersOf(
  environment: Environment,
  flags: Readonly<Partial<Record<Name, string>>>,
  files: readonly SettingsFile[],
): Layers {
  const ofFile = (source: SettingsFile['source']): SettingValues => {
    const { path = '', table = {} } = files.find((file) => file.source === source) ?? {};
    const values = layer((name) => [[`${name} in ${path}`, table[name]]]);
    // Relative to the file, so that a key means the same wherever the command runs.
    const beside = ([name, value]: [string, unknown]) =>
      name.endsWith('_file') ? [name, resolve(dirname(path), String(value))] : [name, value];
    return Object.fromEntries(Object.entries(values).map(beside));
  };
  const command = layer((name) => [
    [`--${name.replaceAll('_', '-')}`, flags[name]],
    [variableOf(name), environment[variableOf(name)] || undefined],
  ]);
  return { command, own: ofFile('user'), folder: ofFile('folder') };
}

type GivenSetting = readonly [from: string, value: unknown];

function layer(givenFor: (name: Name) => readonly GivenSetting[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const name of NAMES) {
    const setting = givenFor(name).find(([, value]) => value !== undefined);
    if (setting !== undefined) values[name] = checked(SETTINGS[name], setting[0], setting[1], HINTS[name]);
  }
  return values;
}

/** A relative path in the user's file would be another folder in each working directory, like the default. */
function stateFolderOf(environment: Environment, { command, own }: Layers) {
  const isNamed = command.home !== undefined || (own.home !== undefined && isAbsolute(own.home));
  const home = resolve(command.home ?? own.home ?? '.runsheet');
  const notes = isNamed ? undefined : notesFolder(environment);
  setNotes(home, notes);
  return { home, notes };
}

function checked(schema: z.ZodType, from: string, value: unknown, hint: string | undefined): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  // The part of a URL before @ may be a password.
  const shown = text.replace(/^.*@/s, '"[secret]@');
  throw problem('E602', {
    what: `${from} is ${shown}: ${parsed.error.issues[0]?.message ?? 'not valid'}`,
    ...(hint !== undefined && { hint }),
  });
}
