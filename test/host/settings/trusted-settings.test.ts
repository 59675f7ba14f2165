// Settings know where they came from: what the file of a folder says counts once the user has trusted it as it is, and a key goes
// only to an address of its own source or a stronger one.

import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  choicesIn,
  loadConfig,
  ownNotes,
  VARIABLES,
  type Config,
} from '../../../src/host/settings/config.ts';
import { forget, trust, trustNotes, type TrustSubject } from '../../../src/host/settings/trust-notes.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

const KEY = 'key-of-the-user-0123456789';
const THEIRS = 'https://theirs.example/api';
const OURS = 'https://ours.example/api';
const PAIR = `api_url = "${THEIRS}"\napi_key_file = "key"\n`;

let folder = '';
beforeEach(() => {
  const before = process.cwd();
  folder = freshFolder();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  write('key', 'key-of-the-folder-0123456789');
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text, { mode: 0o600 });
}

const environment = (variables: Readonly<Record<string, string>> = {}) => ({
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_STATE_HOME: join(folder, 'state'),
  ...variables,
});
const load = (variables: Readonly<Record<string, string>> = {}): Config => loadConfig(environment(variables));
const trustIt = (): void => trust(ownNotes(environment()), choicesIn('runsheet.toml') as TrustSubject);
const writeOwn = (text: string): void => write('config/runsheet/config.toml', text);

describe('the settings of a folder', () => {
  it('that choose a receiver count for nothing before they are trusted', () => {
    write('runsheet.toml', PAIR);
    expect(() => load({ RUNSHEET_API_KEY: KEY })).toThrow(
      expect.objectContaining({
        code: 'E615',
        message: expect.stringContaining(`api_url = "${THEIRS}"`),
        hint: expect.stringContaining(`runsheet trust ${join(folder, 'runsheet.toml')}`),
      }),
    );
  });

  it('count once they are trusted, until what they say changes', () => {
    write('runsheet.toml', PAIR);
    trustIt();
    expect(load().apiUrl).toBe(THEIRS);
    write('runsheet.toml', `# a note\nlocal_speed = 3\n${PAIR}`);
    expect(load().apiUrl).toBe(THEIRS);
    write('runsheet.toml', PAIR.replace('theirs', 'others'));
    expect(load).toThrow(expect.objectContaining({ code: 'E615' }));
    write('runsheet.toml', PAIR);
    expect(load().apiUrl).toBe(THEIRS);
    forget(ownNotes(environment()), join(folder, 'runsheet.toml'));
    expect(load).toThrow(expect.objectContaining({ code: 'E615' }));
  });

  it('are not those of the same text in another folder', () => {
    write('runsheet.toml', PAIR);
    trustIt();
    write('clone/runsheet.toml', PAIR);
    write('clone/key', 'x');
    process.chdir('clone');
    expect(load).toThrow(expect.objectContaining({ code: 'E615' }));
  });

  it('count at once where they choose neither a place nor a receiver', () => {
    write('runsheet.toml', 'local_speed = 3\nlog_level = "error"\ndrain_seconds = 60\n');
    expect(load()).toMatchObject({ localSpeed: 3, logLevel: 'error', member: { drainMs: 60_000 } });
  });

  const OF_A_FOLDER = ['api', 'api_key_file', 'api_url', 'out', 'service', 'task_queue'];
  const HARMLESS = ['drain_seconds', 'local_speed', 'log_level'];
  const names = VARIABLES.map((name) => name.replace('RUNSHEET_', '').toLowerCase());
  // A new setting is refused until somebody decides.
  it.each(names.filter((name) => ![...OF_A_FOLDER, ...HARMLESS].includes(name)))(
    'never choose %s, also where they are trusted',
    (name) => {
      write('runsheet.toml', `${name} = "x"\n`);
      expect(load).toThrow(expect.objectContaining({ code: 'E602', message: expect.stringContaining(name) }));
      expect(() => choicesIn('runsheet.toml')).toThrow(expect.objectContaining({ code: 'E602' }));
    },
  );

  it.each(OF_A_FOLDER)('choose %s only where they are trusted', (name) => {
    const values: Record<string, string> = {
      api: 'api = "v1"',
      api_key_file: PAIR,
      api_url: PAIR,
      service: `[service.theirs]\n${PAIR}`,
    };
    write('runsheet.toml', `${values[name] ?? `${name} = "x"`}\n`);
    expect(load).toThrow(expect.objectContaining({ code: 'E615' }));
    trustIt();
    expect(load).not.toThrow();
  });

  it('name a key that lies in the folder, not one outside and not one behind a link', () => {
    write('secrets/key', 'key-of-another-0123456789');
    write('clone/runsheet.toml', `api_url = "${THEIRS}"\napi_key_file = "../secrets/key"\n`);
    process.chdir('clone');
    expect(load).toThrow(
      expect.objectContaining({ code: 'E602', message: expect.stringContaining('outside') }),
    );
    write('clone/runsheet.toml', PAIR);
    symlinkSync('../secrets/key', 'key');
    trustIt();
    const { apiKey } = load();
    const leadsOut = expect.objectContaining({ message: expect.stringContaining('leads out of') });
    expect(() => apiKey()).toThrow(leadsOut);
    write('clone/runsheet.toml', PAIR.replace('"key"', '"keys/key"'));
    symlinkSync('../secrets', 'keys');
    trustIt();
    const { apiKey: behindFolder } = load();
    expect(() => behindFolder()).toThrow(leadsOut);
  });

  it.each([`api_url = "${THEIRS}"\n`, 'api_key_file = "key"\n'])('are a whole pair: %s', (text) => {
    write('runsheet.toml', text);
    expect(() => load({ RUNSHEET_API_KEY: KEY, RUNSHEET_API_URL: OURS })).toThrow(
      expect.objectContaining({ code: 'E602', message: expect.stringContaining('without') }),
    );
  });
});

describe('the key of the user', () => {
  const keyOf = (config: Config, base?: string): string | undefined => config.apiKey(base)?.value;

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['of the environment', { RUNSHEET_API_KEY: KEY }, ''],
    ['in a file of the environment', { RUNSHEET_API_KEY_FILE: 'secret' }, ''],
    ['of the own file', {}, `api_key_file = "secret"\n`],
  ])('%s goes to the address of the user, never to one of a folder', (_, variables, own) => {
    write('secret', KEY);
    write('config/runsheet/secret', KEY);
    writeOwn(`api_url = "${OURS}"\n${own}`);
    write('runsheet.toml', PAIR);
    trustIt();
    const config = load(variables);
    expect([config.apiUrl, keyOf(config)]).toEqual([THEIRS, 'key-of-the-folder-0123456789']);
    expect(keyOf(config, OURS)).toBe(KEY);
    const commanded = load({ ...variables, RUNSHEET_API_URL: OURS });
    expect([commanded.apiUrl, keyOf(commanded)]).toEqual([OURS, KEY]);
    expect(keyOf(commanded, THEIRS)).toBe('key-of-the-folder-0123456789');
  });

  it('pays at the address of the user, also where a folder has another key for it', () => {
    write('runsheet.toml', `api_url = "${OURS}"\napi_key_file = "key"\n`);
    trustIt();
    expect(keyOf(load({ RUNSHEET_API_URL: OURS, RUNSHEET_API_KEY: KEY }), OURS)).toBe(KEY);
    writeOwn(`api_url = "${OURS}"\n`);
    expect(keyOf(load({ RUNSHEET_API_KEY: KEY }))).toBe(KEY);
  });

  it('in a relative file of the own settings lies beside them, whatever a folder has under that name', () => {
    write('config/runsheet/key', KEY);
    writeOwn(`api_url = "${OURS}"\napi_key_file = "key"\n`);
    expect(keyOf(load())).toBe(KEY);
  });

  it('of a named service stays with the address that the user gave the name', () => {
    write('config/runsheet/secret', KEY);
    writeOwn(`[service.production]\napi_url = "${OURS}"\napi_key_file = "secret"\n`);
    write('runsheet.toml', `[service.production]\n${PAIR}[service.theirs]\n${PAIR}`);
    trustIt();
    const production = load({ RUNSHEET_SERVICE: 'production' });
    expect([production.apiUrl, keyOf(production)]).toEqual([OURS, KEY]);
    const foreign = load({ RUNSHEET_SERVICE: 'theirs' });
    expect([foreign.apiUrl, keyOf(foreign)]).toEqual([THEIRS, 'key-of-the-folder-0123456789']);
  });
});

describe('a note of trust', () => {
  it('in a folder that others may write counts for nothing', () => {
    write('runsheet.toml', PAIR);
    trustIt();
    const notes = ownNotes(environment());
    expect(trustNotes(notes)).toMatchObject([{ path: join(folder, 'runsheet.toml') }]);
    chmodSync(join(notes, 'trusted'), 0o777);
    expect(load).toThrow(expect.objectContaining({ code: 'E615' }));
    expect(trustNotes(notes)).toEqual([]);
  });

  it('is never in the working directory, also where a setting names it', () => {
    expect(ownNotes({ XDG_STATE_HOME: 'state' })).toMatch(/^\/.*\/runsheet-\d+$/);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is not in a folder of another user, whose home root may work in',
    () => {
      mkdirSync(join(folder, 'state', 'runsheet'), { recursive: true });
      chownSync(join(folder, 'state', 'runsheet'), 12_345, 12_345);
      expect(ownNotes(environment())).toBe(join(tmpdir(), 'runsheet-0'));
    },
  );
});
