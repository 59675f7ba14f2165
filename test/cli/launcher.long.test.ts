// The command on a Node that is too old: it starts itself again on the one that was installed with the package.

import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { familyOf, isAlive } from '../stage/processes.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { until, type Running } from '../stage/stage.ts';

const PATIENCE_MS = 20_000;

describe('a command on an old Node', () => {
  const stage = sharedStage();

  /** Only the first process takes itself for an old one. */
  const old = stage.write(
    'old.mjs',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } });
await import(${JSON.stringify(pathToFileURL(programFile()).href)});
`,
  );
  const realOf = ({ child }: Running): number => {
    const [launcher, real] = familyOf(child.pid);
    expect(launcher).toBe(child.pid);
    return real ?? Number.NaN;
  };

  it('ends when the process that the user started is killed: its worker no longer polls', async () => {
    await stage.temporal();
    const worker = stage.start(['worker'], {}, old);
    await worker.says(/webhooks at/);
    const real = realOf(worker);
    worker.child.kill('SIGKILL');
    await until(() => !isAlive(real), 'the worker is gone', PATIENCE_MS);
    expect(isAlive(real)).toBe(false);
  });

  it('ends with its embedded servers when that process is killed, as after SIGTERM', async () => {
    const dev = stage.start(['dev'], { TEMPORAL_ADDRESS: '' }, old);
    await dev.says(/service +http/);
    const real = realOf(dev);
    const servers = familyOf(real).slice(1);
    expect(servers.length).toBeGreaterThan(3);
    dev.child.kill('SIGKILL');
    await until(() => [real, ...servers].every((pid) => !isAlive(pid)), 'all are gone', PATIENCE_MS);
    expect(dev.stderr).not.toMatch(/error/i);
  });

  it('ends with its own exit code when it is done', async () => {
    const began = performance.now();
    expect(await stage.run(['--version'], {}, old)).toMatchObject({ code: 0, stdout: '0.1.0\n' });
    expect(await stage.run(['status'], { TEMPORAL_ADDRESS: '' }, old)).toMatchObject({ code: 2 });
    expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
  });

  it('forwards signals, and ends by the signal that ended its child', async () => {
    const service = stage.start(['service'], {}, old);
    await service.says(/RUNSHEET_API_URL/);
    const real = realOf(service);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
    expect(isAlive(real)).toBe(false);
  });
});
