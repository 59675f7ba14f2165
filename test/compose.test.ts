import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporalFrom } from '../src/temporal/temporal-address.ts';
import { freshFolder } from './stage/fresh-folder.ts';

const ROOT = join(import.meta.dirname, '..');

type ComposeService = {
  readonly image: string;
  readonly build?: string;
  readonly pull_policy?: string;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly privileged?: boolean;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly container_name?: string;
  readonly user?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly secrets?: readonly string[];
};
const { services, secrets, networks } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
}) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
};
const serviceEntries = Object.entries(services);

const OURS = ['worker', 'runsheet'] as const;

/** A value as compose fills it in: `${A}`, `${A:-default}`, `${A:+value}`, also in each other. */
function interpolated(value: string, set: Readonly<Record<string, string>>): string {
  const inner = /\$\{(\w+)(?:(:[-+])([^{}]*))?\}/;
  const filled = value.replace(
    inner,
    (_, name: string, how: string | undefined, fallback: string | undefined) => {
      const own = set[name] ?? '';
      if (how === ':+') return own === '' ? '' : (fallback ?? '');
      return own === '' ? (fallback ?? '') : own;
    },
  );
  return filled === value ? value : interpolated(filled, set);
}

describe('docker-compose.yml', () => {
  it('publishes the UI, which only shows, the receiver and the run service, on loopback, and nothing else', () => {
    const ports = serviceEntries.flatMap(([name, service]) =>
      (service.ports ?? []).map((port) => [name, port]),
    );
    expect(ports).toEqual([
      ['ui', expect.stringMatching(/^127\.0\.0\.1:.*:8080$/)],
      ['worker', expect.stringMatching(/^127\.0\.0\.1:.*:8480$/)],
      ['service', expect.stringMatching(/^127\.0\.0\.1:.*:8090$/)],
    ]);
    expect(services['ui']?.environment).toMatchObject({ TEMPORAL_DISABLE_WRITE_ACTIONS: 'true' });
  });

  it('starts every program without rights that it does not need', () => {
    const rights: Record<string, readonly string[]> = {};
    for (const [name, { security_opt, cap_drop, cap_add, privileged }] of serviceEntries) {
      expect([name, security_opt, cap_drop]).toEqual([name, ['no-new-privileges:true'], ['ALL']]);
      expect(privileged, name).toBeUndefined();
      if (cap_add !== undefined) rights[name] = cap_add;
    }
    expect(rights).toEqual({
      prepare: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
      postgresql: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    });
  });

  it('lets our programs write to volumes and /tmp only, as a user who is not root', () => {
    for (const name of OURS) {
      const { read_only, tmpfs, user, environment, volumes = [] } = services[name] ?? {};
      expect([read_only, tmpfs]).toEqual([true, ['/tmp']]);
      expect(user).toBe('${RUNSHEET_USER:-1000:1000}');
      for (const variable of ['RUNSHEET_HOME', 'XDG_CACHE_HOME'])
        expect(environment?.[variable]).toMatch(/^\/state/);
      expect(volumes).toContain('state:/state');
    }
    for (const name of ['prepare', 'postgresql']) expect(services[name]?.read_only).toBe(true);
  });

  it('lets nothing reach the outside but what must', () => {
    const on = (network: string): readonly string[] =>
      serviceEntries.filter(([, service]) => service.networks?.includes(network)).map(([name]) => name);
    const outer = new Set(['prepare', 'service']);
    expect(on('inner')).toEqual(serviceEntries.map(([name]) => name).filter((name) => !outer.has(name)));
    expect(on('outside')).toEqual(['ui', 'worker', 'runsheet', 'service']);
    expect(networks).toEqual({ inner: { internal: true }, outside: null });
    const isolated = serviceEntries.filter(([, service]) => service.networks === undefined);
    expect(isolated.map(([name, { network_mode }]) => [name, network_mode])).toEqual([['prepare', 'none']]);
  });

  it('has no secret in it, and takes them from files', () => {
    const names = serviceEntries.flatMap(([, { environment }]) => Object.keys(environment ?? {}));
    const secret = names.filter((name) => /PASSWORD|PWD|KEY|SECRET|TOKEN/.test(name));
    const inFiles = secret.filter((name) => !name.startsWith('AWS_'));
    expect(new Set(inFiles)).toEqual(
      new Set([
        'POSTGRES_PASSWORD_FILE',
        'RUNSHEET_API_KEY_FILE',
        'RUNSHEET_PAYLOAD_KEY_FILE',
        // Temporal's clients read a variable, which is passed on.
        'TEMPORAL_API_KEY',
        'TEMPORAL_TLS_CLIENT_KEY_PATH',
      ]),
    );
    // S3 clients read variables, which are passed on.
    for (const name of OURS) {
      const passed = Object.entries(services[name]?.environment ?? {}).filter(([variable]) =>
        variable.startsWith('AWS_'),
      );
      expect(passed.length).toBe(5);
      for (const [variable, value] of passed) expect(value).toBe(`\${${variable}:-}`);
    }
    for (const name of OURS)
      for (const [variable, secretName] of [
        ['RUNSHEET_API_KEY_FILE', 'api-key'],
        ['RUNSHEET_PAYLOAD_KEY_FILE', 'payload-key'],
      ] as const) {
        // Without a file the variable is empty, and an empty one counts as none.
        expect(services[name]?.environment?.[variable]).toBe(`\${${variable}:+/run/secrets/${secretName}}`);
        expect(services[name]?.secrets).toContain(secretName);
        expect(secrets[secretName]?.file).toBe(`\${${variable}:-/dev/null}`);
      }
  });

  it('gives every part of ours the same Temporal, which by default is the one here, without its keys', () => {
    const settings = services['worker']?.environment ?? {};
    const temporal = (set: Readonly<Record<string, string>>) =>
      temporalFrom(
        Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, interpolated(value, set)])),
      );
    expect(services['runsheet']?.environment).toEqual(settings);
    const unset = { address: 'temporal:7233', namespace: 'default' };
    const key = { TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: 'true' };
    expect(temporal({})).toEqual({ ...unset, from: 'TEMPORAL_ADDRESS', options: {} });
    expect(temporal(key)).toEqual(temporal({}));
    expect(temporal({ ...key, TEMPORAL_ADDRESS: 'cloud:7233', TEMPORAL_NAMESPACE: 'cats' })).toMatchObject({
      address: 'cloud:7233',
      namespace: 'cats',
      options: { apiKey: 'key' },
    });
    for (const name of ['namespace', 'ui'])
      expect(Object.values(services[name]?.environment ?? {})).toContain(settings['TEMPORAL_NAMESPACE']);
  });

  it('gives worker and command the batches under the path that they have outside, and lets workers use it', () => {
    for (const name of OURS) {
      const batches = services[name]?.volumes?.find((volume) => volume.includes('batches')) ?? '';
      const half = (batches.length - 1) / 2;
      expect(batches.slice(0, half)).toBe(batches.slice(half + 1));
      // Unless the batches are in S3.
      expect(services[name]?.environment?.['RUNSHEET_OUT']).toBe(
        `\${RUNSHEET_OUT:-${batches.slice(0, half)}}`,
      );
    }
  });

  describe('prepares', () => {
    const { user, environment, entrypoint = [], command: script = [], volumes } = services['prepare'] ?? {};
    const isRoot = process.getuid?.() === 0;
    const OWNER = 4242;

    /** Runs the service's script as compose would, on folders of the test. */
    const prepare = (folder: string): void => {
      const [shell = '', ...flags] = entrypoint;
      const text = (script[0] ?? '')
        .replaceAll('$$', '$')
        .replaceAll(/\/(passwords|state|batches)\b/g, `${folder}/$1`);
      const { status, stderr } = spawnSync(shell, [...flags, text], {
        env: { ...process.env, OWNER: `${OWNER}:${OWNER}` },
      });
      expect([status, stderr.toString()]).toEqual([0, '']);
    };

    it('before anything that needs it starts, as root, for the user of the worker', () => {
      expect(user).toBe('0:0');
      for (const name of OURS) expect(services[name]?.user).toBe(environment?.['OWNER']);
      for (const name of ['postgresql', 'worker'])
        expect(services[name]?.depends_on).toHaveProperty('prepare');
      expect(volumes).toEqual(expect.arrayContaining(['passwords:/passwords', 'state:/state']));
      for (const name of ['postgresql', 'schema', 'temporal'])
        expect(services[name]?.volumes).toContain('passwords:/passwords:ro');
    });

    it.runIf(isRoot)('a password that stays, and folders that the user can write', () => {
      const folder = freshFolder();
      for (const name of ['passwords', 'state', 'batches']) mkdirSync(join(folder, name));
      const password = () => readFileSync(join(folder, 'passwords', 'postgresql'), 'utf8');
      prepare(folder);
      const first = password();
      expect(first).toMatch(/^[0-9a-f]{48}$/);
      for (const name of ['state', 'batches']) expect(statSync(join(folder, name)).uid).toBe(OWNER);
      prepare(folder);
      expect(password()).toBe(first);
      // Batches that belong to somebody are left to him.
      chownSync(join(folder, 'batches'), 77, 77);
      prepare(folder);
      expect(statSync(join(folder, 'batches')).uid).toBe(77);
    });
  });

  it('lets nothing into its build but what the image is made from', () => {
    const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const [first = '', ...allowed] = lines.filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    for (const line of allowed) expect(line).toMatch(/^![\w.-]+$/);
    const names = allowed.map((line) => line.slice(1));
    expect(names.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining([
        'package.json',
        'package-lock.json',
        'tsconfig.build.json',
        'src',
        'bin',
        'workflows',
        'activities',
      ]),
    );
    expect(names.filter((name) => /env|key|secret|batches|runsheet|toml/.test(name))).toEqual([]);
  });

  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
  it.runIf(hasCompose)('is what docker compose takes for right', () => {
    const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], { cwd: ROOT });
    expect(stderr.toString()).toBe('');
    expect(status).toBe(0);
  });
});
