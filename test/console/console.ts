// Runs commands in this process, in a folder of their own and against a local run service, without Temporal: commands that
// read, check or refuse need none.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { withCopy } from '../../src/batches/copy-sheet.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { AGAIN } from '../../src/batches/questions.ts';
import { createBatch } from '../batches/create.ts';
import { createParams } from '../../src/batches/batch-request.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { deploymentSpecSchema, startLocalService } from '../../src/run-service/server.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { runInProcess, type Said } from '../stage/in-process.ts';

const KEY = 'console-key-0123456789';

export const PORTRAITS = {
  name: 'portraits',
  gpu: 'A10G',
  inputTypes: [
    { name: 'prompt', type: 'string', required: true },
    { name: 'seed', type: 'integer', required: false, default: 7, min: 0 },
    { name: 'style', type: 'string', required: false, default: 'plain', options: ['plain', 'oil'] },
  ],
} as const;
const DEPLOYMENTS = [
  PORTRAITS,
  { name: 'free', inputTypes: [{ name: 'prompt', type: 'string', required: true }] },
] as const;

export class Console {
  readonly folder = freshFolder();
  readonly out = join(this.folder, 'batches');
  /** Whether stdin and stderr are a terminal. */
  isTerminal = false;
  /** The answers that the user types. */
  typed = '';

  static async open(deployments: readonly object[] = DEPLOYMENTS): Promise<Console> {
    const console = new Console();
    const service = await startLocalService({
      port: 0,
      tokens: [KEY],
      speed: 100,
      database: ':memory:',
      deployments: deployments.map((deployment) => deploymentSpecSchema.parse(deployment)),
      faults: {},
      seed: 1,
    });
    const settings = {
      RUNSHEET_API_URL: service.base,
      RUNSHEET_API_KEY: KEY,
      RUNSHEET_OUT: console.out,
      RUNSHEET_HOME: join(console.folder, 'home'),
      XDG_STATE_HOME: join(console.folder, 'state'),
      TEMPORAL_ADDRESS: undefined,
    };
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await service.close();
    });
    return console;
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** A batch that was made and never started. */
  batch(
    sheet: string,
    name: string,
    deployment = 'portraits',
    keyColumn?: string,
    madeFor?: string,
  ): Promise<CreatedBatch> {
    const config = loadConfig();
    return withCopy(sheet, { out: this.out, stdin: Readable.from([]) }, async (copy) => {
      const request = {
        service: { base: config.apiUrl ?? '', api: 'v2' as const },
        deployment,
        options: { map: {}, set: {}, drop: [], types: {}, ...(keyColumn && { keyColumn }) },
        settings: { deadlines: {}, webhooks: false },
        order: {},
        again: true,
        answers: { ...AGAIN, otherGpu: 'accept' as const },
        name,
        ...(madeFor && { madeFor }),
      };
      return createBatch({ ...(await createParams(config, copy, request)), places: config.places });
    });
  }

  run(...args: readonly string[]): Promise<Said> {
    return runInProcess(args, this.isTerminal ? this.typed : undefined);
  }
}
