// Secrets are planted where a user gives them, a batch goes through all the trouble that there is, and then everything that
// was written, said or shown is searched for them in every form.
//
// What of a webhook address is a secret: its MAC lets whoever has it say "look at this run again", and the run service keeps
// it with the run by design. So MACs may stand in the service's own database and answers, and nowhere else; the secret that
// makes them may stand nowhere but in its own file or variable.

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
