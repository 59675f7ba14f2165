// Plants secrets in every place where a user gives them, runs a batch with every kind of fault, and then searches everything
// that was written, printed or shown for them in every form.
//
// The MAC of a webhook address is secret: with it, anyone can make a worker poll the run again. The run service stores it with
// the run by design. So MACs may be only in the service's own database and responses, and the secret that signs them only in
// its own file or variable.

import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FAULTS, LOST_FILES, Scene, askEverything, expectNothingFound, runBatch } from '../secrets/scene.ts';

describe('planted secrets', () => {
  let scene = new Scene();
  beforeEach(() => {
    scene = new Scene();
  });
  afterEach(() => scene.close());

  it('are nowhere after a batch on an external Temporal, with the key in a file', async () => {
    const { stage, evidence, secrets } = scene;
    await scene.open([...FAULTS, ...LOST_FILES]);
    const keyFile = stage.path('keys', 'api-key');
    mkdirSync(stage.path('keys'));
    await stage.temporal();
    scene.set({ RUNSHEET_API_KEY_FILE: keyFile, RUNSHEET_WEBHOOK_SECRET: secrets.webhook });
    writeFileSync(keyFile, secrets.key);
    const worker = scene.hear(await stage.worker(), 'worker');
    await runBatch(scene, (key) => writeFileSync(keyFile, `${key}\n`));
    await askEverything(scene);
    await worker.kill('SIGTERM');
    const { TEMPORAL_ADDRESS = '', TEMPORAL_NAMESPACE = '' } = stage.environment;
    expect(await evidence.addWorkflows(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE)).toBe(1);
    await expectNothingFound(scene, secrets, [keyFile]);
  });
});
