// The same search as in planted-secrets.long.test.ts, after a batch with embedded servers.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { choosePorts } from '../../src/temporal/embedded/ports.ts';
import { startServer } from '../../src/temporal/embedded/temporal-server.ts';
import type { Evidence } from '../secrets/evidence.ts';
import { FAULTS, Scene, askEverything, expectNothingFound, runBatch } from '../secrets/scene.ts';

/** The stack is gone; its database is opened once more. */
async function addEmbeddedWorkflows(home: string, evidence: Evidence): Promise<void> {
  const { cache, environment } = loadConfig();
  const program = await temporalBinary({ cache, environment, notice: () => undefined });
  const namespace = `runsheet-${readFileSync(join(home, 'instance'), 'utf8').slice(0, 8)}`;
  const { temporal: port } = await choosePorts(home);
  const { child, address } = await startServer({ program, home, namespace, port, environment });
  await evidence.addWorkflows(address, namespace, payloadKeys({ ...loadConfig({}), home }, 'embedded'));
  child.kill('SIGKILL');
}

describe('planted secrets', () => {
  let scene = new Scene();
  beforeEach(() => {
    scene = new Scene();
  });
  afterEach(() => scene.close());

  it('are nowhere after a batch in an embedded stack, with the key in a variable and a webhook secret of its own', async () => {
    const { stage, evidence, secrets } = scene;
    await scene.open(FAULTS);
    await runBatch(scene, (key) => scene.set({ RUNSHEET_API_KEY: key }));
    await askEverything(scene);
    const home = stage.path('.runsheet');
    const [secretFile, keyFile] = [join(home, 'webhook-secret'), join(home, 'payload-key')];
    const modes = [home, secretFile, keyFile].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    await addEmbeddedWorkflows(home, evidence);
    const drawn = { webhook: readFileSync(secretFile, 'utf8'), payload: readFileSync(keyFile, 'utf8') };
    await expectNothingFound(scene, { ...secrets, ...drawn }, [secretFile, keyFile]);
  });
});
