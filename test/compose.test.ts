import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');

type Service = {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly restart: string;
  readonly container_name?: string;
};
const { services, configs } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
}) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
};
const all = Object.entries(services);
/** Those that end by themselves; all others stay. */
const JOBS = new Set(['schema', 'namespace']);

describe('docker-compose.yml', () => {
  it('pins every image to a version', () => {
    for (const [name, { image }] of all) expect(image, name).toMatch(/:\d+\.\d+(\.\d+)?$/);
    for (const [, from = ''] of readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm))
      expect(from).toMatch(/^node:24\.\d+-/);
  });

  it('opens its ports on loopback only', () => {
    const ports = all.flatMap(([, service]) => service.ports ?? []);
    expect(ports).toHaveLength(4);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('knows of every server whether it is well, and restarts it', () => {
    for (const [name, { healthcheck, restart }] of all.filter(([one]) => !JOBS.has(one))) {
      expect(healthcheck?.test.length, name).toBeGreaterThan(1);
      expect(restart, name).toBe('unless-stopped');
    }
  });

  it('starts each part when what it needs is well, or done where it is a job', () => {
    const conditions = all.flatMap(([, { depends_on }]) => Object.entries(depends_on ?? {}));
    expect(conditions.length).toBe(5);
    for (const [on, { condition }] of conditions)
      expect(condition, on).toBe(JOBS.has(on) ? 'service_completed_successfully' : 'service_healthy');
  });

  it('gives the worker the batches under the path that the command knows', () => {
    const batches = services['worker']?.volumes?.find((volume) => volume.includes('batches')) ?? '';
    const half = (batches.length - 1) / 2;
    expect(batches.slice(0, half)).toBe(batches.slice(half + 1));
  });

  it('lets activities start with their workflow task', () => {
    const dynamic = parse(configs['dynamic']?.content ?? '') as Record<string, unknown>;
    expect(dynamic['system.enableActivityEagerExecution']).toEqual([{ value: true }]);
  });

  it('lets two copies stand side by side', () => {
    expect(all.filter(([, { container_name }]) => container_name !== undefined)).toEqual([]);
  });

  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
  it.runIf(hasCompose)('is what docker compose takes for right', () => {
    const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], { cwd: ROOT });
    expect(stderr.toString()).toBe('');
    expect(status).toBe(0);
  });
});
