// Settings that cannot be meant: each is refused by its name, with what helps, and without showing a secret.

import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig, type Config } from '../../../src/host/settings/config.ts';
import { RunsheetError } from '../../../src/errors/error.ts';

const PASSWORD = 'hunter2hunter2';
const before = process.cwd();
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runsheet-config-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const load = (environment: Readonly<Record<string, string>> = {}): Config =>
  loadConfig({
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    ...environment,
  });

/** Writes the user's own file, and what lies beside it. */
function writeOwn(text: string): void {
  mkdirSync(join('config', 'runsheet'), { recursive: true });
  writeFileSync(join('config', 'runsheet', 'config.toml'), text);
}

function refusal(loading: () => unknown): RunsheetError {
  try {
    loading();
  } catch (error) {
    if (error instanceof RunsheetError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

it('batches of one user are known together, whatever the working directory and the state folder are', () => {
  const users = { XDG_STATE_HOME: join(folder, 'users') };
  const { places } = load({ ...users, RUNSHEET_HOME: 'one' });
  expect(places).toBe(join(folder, 'users', 'runsheet', 'places'));
  mkdirSync('below');
  process.chdir('below');
  expect(load({ ...users, RUNSHEET_HOME: 'two' }).places).toBe(places);
});

describe('an address with a user and a password in it', () => {
  it.each([
    ['RUNSHEET_API_URL', /RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE/],
    ['RUNSHEET_WEBHOOK_URL', /RUNSHEET_WEBHOOK_SECRET/],
  ])('is refused as %s, with the setting that helps', (name, hint) => {
    const error = refusal(() => load({ [name]: `https://user:${PASSWORD}@example.test/api` }));
    expect(error).toMatchObject({ code: 'E602', exit: 2, hint: expect.stringMatching(hint) });
    expect(error.message).toContain(name);
    expect(`${error.message}${error.hint}`).not.toContain(PASSWORD);
  });

  it('is refused with a user alone', () => {
    expect(refusal(() => load({ RUNSHEET_API_URL: `https://${PASSWORD}@example.test/api` })).code).toBe(
      'E602',
    );
  });

  it('is refused in the file of a folder, and not shown', () => {
    writeFileSync(
      'runsheet.toml',
      `api_url = "https://user:${PASSWORD}@example.test/api"\napi_key_file = "key"\n`,
    );
    const error = refusal(load);
    expect(error.message).toContain('api_url in ');
    expect(error.message).not.toContain(PASSWORD);
  });

  it.each([
    `user:${PASSWORD}@example.test`,
    `https://user:pa/${PASSWORD}@example.test`,
    `htp://user:${PASSWORD}@example.test`,
    `//user:${PASSWORD}@`,
    `https://user:${PASSWORD}@:99`,
  ])('is not shown where it is no address at all (%s)', (address) => {
    const error = refusal(() => load({ RUNSHEET_API_URL: address }));
    expect(error.code).toBe('E602');
    expect(error.message).not.toContain(PASSWORD);
  });
});

describe('a base address', () => {
  it.each(['https://example.test/api?key=1', 'https://example.test/api#top'])(
    'has nothing behind it: %s',
    (url) => {
      expect(refusal(() => load({ RUNSHEET_API_URL: url })).message).toMatch(/RUNSHEET_API_URL .*\? or #/);
    },
  );

  it('loses its slashes at the end', () => {
    expect(load({ RUNSHEET_API_URL: 'https://example.test/api//' }).apiUrl).toBe('https://example.test/api');
  });
});

describe('a name in runsheet.toml', () => {
  it.each([
    ['api_ulr = "https://example.test"', /"api_ulr"/, /did you mean api_url\?/],
    ['API_URL = "https://example.test"', /"API_URL"/, /did you mean api_url\?/],
    ['colour = "red"', /"colour"/, /names: out, api_url, api, api_key_file, .*log_level/],
    ['[runsheet]\nhome = "x"', /"runsheet"/, /names: out, api_url, (?!.*home)/],
    ['concurrency = 4', /"concurrency"/, /^it is an option .* --concurrency, or in a job file/],
    ['concurency = 4', /"concurency"/, /^did you mean concurrency\? it is an option .* --concurrency,/],
    ['max_cost = 4', /"max_cost"/, /^it is an option .* --max-cost,/],
  ])('that is unknown is refused: %s', (text, message, hint) => {
    writeFileSync('runsheet.toml', `${text}\n`);
    const error = refusal(load);
    expect(error).toMatchObject({ code: 'E602', exit: 2 });
    expect(error.message).toMatch(message);
    expect(error.message).toContain(join(folder, 'runsheet.toml'));
    expect(error.hint).toMatch(hint);
  });

  it.each([
    ['api_key', /api_key_file/],
    ['webhook_secret', /webhook_secret_file/],
    ['payload_key', /payload_key_file/],
  ])('that would hold a secret is refused, and its value is not shown: %s', (name, hint) => {
    writeFileSync('runsheet.toml', `${name} = "${PASSWORD}"\n`);
    const error = refusal(load);
    expect(error.hint).toMatch(hint);
    expect(`${error.message}${error.hint}`).not.toContain(PASSWORD);
  });

  it('is refused in the user file as well', () => {
    mkdirSync('config/runsheet', { recursive: true });
    writeFileSync('config/runsheet/config.toml', 'hom = "x"\n');
    expect(refusal(load).hint).toMatch(/did you mean home\?/);
  });

  it('counts where it is known', () => {
    writeOwn('local_speed = 3\nout = "there"\n');
    expect(load()).toMatchObject({ localSpeed: 3, out: join(process.cwd(), 'there') });
  });
});

describe('a variable', () => {
  it.each([
    ['RUNSHEET_API_ULR', /did you mean RUNSHEET_API_URL\?/],
    ['RUNSHEET_OUTT', /did you mean RUNSHEET_OUT\?/],
    ['RUNSHEET_API_KEYFILE', /did you mean RUNSHEET_API_KEY_FILE\?/],
  ])('that is nearly one of ours is refused: %s', (name, hint) => {
    const error = refusal(() => load({ [name]: PASSWORD }));
    expect(error).toMatchObject({ code: 'E602', hint: expect.stringMatching(hint) });
    expect(error.message).toBe(`there is no setting ${name}`);
  });

  it.each(['RUNSHEET_LONG', 'RUNSHEET_SERVICE_TOKEN', 'RUNSHEET_SOMETHING_ELSE', 'RUNSHEETS'])(
    'is left alone otherwise: %s',
    (name) => {
      expect(load({ [name]: 'x' }).out).toBe(join(process.cwd(), 'batches'));
    },
  );
});

describe('a number among the settings', () => {
  it.each([
    ['RUNSHEET_LOCAL_SPEED', '0'],
    ['RUNSHEET_LOCAL_SPEED', '-1'],
    ['RUNSHEET_LOCAL_SPEED', 'NaN'],
    ['RUNSHEET_LOCAL_SPEED', '1e400'],
    ['RUNSHEET_LOCAL_SPEED', '1e9'],
    ['RUNSHEET_WEBHOOK_LISTEN', ':99999'],
    ['RUNSHEET_WEBHOOK_LISTEN', 'localhost'],
    ['RUNSHEET_WEBHOOK_LISTEN', ':-1'],
  ])('%s=%s is refused', (name, value) => {
    const error = refusal(() => load({ [name]: value }));
    expect(error).toMatchObject({ code: 'E602', exit: 2 });
    expect(error.message).toContain(`${name} is "${value}"`);
    expect(error.hint).toBeDefined();
  });
});

describe('a settings file', () => {
  it('that is a folder is named', () => {
    mkdirSync('runsheet.toml');
    expect(refusal(load).message).toMatch(/runsheet\.toml cannot be read: it is a folder/);
  });

  it('that is no TOML shows no value of it', () => {
    writeFileSync('runsheet.toml', `api_url = "https://user:${PASSWORD}@x\n`);
    const error = refusal(load);
    expect(error.message).toMatch(/runsheet\.toml cannot be read: .*line 1/s);
    expect(error.message).not.toContain(PASSWORD);
  });
});

describe('settings of another user of the machine', () => {
  const asUser = (uid: number): Config => {
    vi.spyOn(process, 'geteuid').mockReturnValue(uid);
    return load();
  };
  afterEach(() => vi.restoreAllMocks());

  it('are refused: they could send our key elsewhere; root reads those of the folder in which it works', () => {
    const path = join(folder, 'runsheet.toml');
    writeFileSync(path, 'local_speed = 3\n');
    const owner = statSync(path).uid;
    if (owner === 0) chownSync(path, 12_345, 12_345);
    const error = refusal(() => asUser(23_456));
    expect(error.code).toBe('E602');
    expect(error.message).toMatch(/runsheet\.toml cannot be read: it belongs to another user/);
    expect(asUser(statSync(path).uid).localSpeed).toBe(3);
    expect(asUser(0).localSpeed).toBe(3);
  });
});

describe('the address of the metrics', () => {
  it.each([
    ['9464', { host: '127.0.0.1', port: 9464 }],
    ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
  ])('is on this machine unless it names a host: %s', (text, address) => {
    expect(load({ RUNSHEET_METRICS: text }).metrics).toEqual(address);
  });

  it('is absent by default, and refused with examples if it is none', () => {
    expect(load().metrics).toBeUndefined();
    const error = refusal(() => load({ RUNSHEET_METRICS: 'yes' }));
    expect(error).toMatchObject({ code: 'E602', hint: expect.stringContaining('9464') });
  });
});

describe('the settings of one worker of several', () => {
  it('give a worker 25 s to end and no deployment by default', () => {
    expect(load().member).toEqual({ drainMs: 25_000, deployment: undefined, build: undefined });
  });

  it('are those of the Worker Controller, unless others are set', () => {
    const environment = {
      TEMPORAL_DEPLOYMENT_NAME: 'runsheet/worker',
      TEMPORAL_WORKER_BUILD_ID: '0.1.0-5c3d',
    };
    expect(load(environment).member).toMatchObject({ deployment: 'runsheet/worker', build: '0.1.0-5c3d' });
    expect(load({ ...environment, RUNSHEET_WORKER_BUILD: 'own' }).member.build).toBe('own');
  });

  it('may stand in runsheet.toml', () => {
    writeFileSync('runsheet.toml', 'drain_seconds = 60\n');
    expect(load().member).toMatchObject({ drainMs: 60_000 });
  });

  it.each([
    ['RUNSHEET_DRAIN_SECONDS', '0'],
    ['RUNSHEET_DRAIN_SECONDS', '2h'],
    ['RUNSHEET_WORKER_DEPLOYMENT', 'my deployment'],
    ['RUNSHEET_WORKER_BUILD', 'a:b'],
  ])('are refused by their name: %s=%s', (name, value) => {
    expect(refusal(() => load({ [name]: value }))).toMatchObject({
      code: 'E602',
      message: expect.stringContaining(name),
    });
  });
});

describe('a service with a name', () => {
  const named = (text: string, environment: Readonly<Record<string, string>> = {}): Config => {
    writeOwn(text);
    writeFileSync(join('config', 'runsheet', 'key'), 'key-of-production-1', { mode: 0o600 });
    return load(environment);
  };
  const PRODUCTION = '[service.production]\napi_url = "https://gpu.example/api"\napi_key_file = "key"\n';
  const OTHER = { RUNSHEET_API_URL: 'https://other.example/api', RUNSHEET_API_KEY: 'key-of-the-other-1' };

  it('is chosen by name, before an address of the settings, and each address has its own key', () => {
    const { apiUrl, service, api, apiKey } = named(PRODUCTION, { ...OTHER, RUNSHEET_SERVICE: 'production' });
    expect([apiUrl, service, api]).toEqual(['https://gpu.example/api', 'production', 'v2']);
    expect(apiKey()?.value).toBe('key-of-production-1');
    expect(apiKey('https://other.example/api')?.value).toBe('key-of-the-other-1');
    expect(apiKey('https://third.example/api')).toBeUndefined();
  });

  it('gives way at its address to a key of the settings, unless it is chosen', () => {
    const same = { RUNSHEET_API_URL: 'https://gpu.example/api', RUNSHEET_API_KEY: 'key-of-the-other-1' };
    expect(named(PRODUCTION, same).apiKey()?.value).toBe('key-of-the-other-1');
    const chosen = named(PRODUCTION, { ...same, RUNSHEET_SERVICE: 'production' });
    expect(chosen.apiKey()?.value).toBe('key-of-production-1');
  });

  it('keeps its key for its batches while another one is chosen', () => {
    const { apiUrl, apiKey } = named(PRODUCTION, OTHER);
    expect(apiUrl).toBe('https://other.example/api');
    expect(apiKey('https://gpu.example/api')?.value).toBe('key-of-production-1');
  });

  it.each([
    [PRODUCTION, 'no settings have a service prod', 'services: production'],
    ['', 'no settings have a service prod', '[service.prod]'],
    ['[service.prod]\napi_url = "https://gpu.example/api"\n', '[service.prod] in', 'api_key_file'],
    [`${PRODUCTION}token = "x"\n`, '[service.production] in', 'a service has api_url, api_key_file'],
    ['service = "prod"\n', 'is no table', '[service.production]'],
    [
      `${PRODUCTION}${PRODUCTION.replace('production', 'team').replace('"key"', '"other"')}`,
      'have one address and two keys',
      'keep one of them',
    ],
  ])('is refused with %j', (text, what, hint) => {
    const error = refusal(() => named(text, { RUNSHEET_SERVICE: 'prod' }));
    expect(error.message).toContain(what);
    expect(error.hint).toContain(hint);
  });
});
