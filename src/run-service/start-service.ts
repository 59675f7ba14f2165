// The entry `runsheet/service`: a local run service inside another program, such as a test. It costs nothing.

import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { problem } from '../errors/error.ts';
import {
  DEMO_DEPLOYMENTS,
  type DeploymentSpec,
  type deploymentSpecSchema,
  readDeployments,
} from './service-deployments.ts';
import { startLocalService } from './server.ts';

export type StartServiceOptions = {
  /** Entries of a deployments file. Default: those of `runsheet service`. */
  readonly deployments?: readonly z.input<typeof deploymentSpecSchema>[];
  /** How often each fault happens, from 0 to 1: `{ 'drop-answer': 0.1 }`. Default: none. */
  readonly faults?: Readonly<Record<string, number>>;
  /** The seed of faults and run times. Default: 1. */
  readonly seed?: number;
  /** Divides every duration. Default: 1. */
  readonly speed?: number;
  /** Default: a free port. */
  readonly port?: number;
  /** The API key. Default: a random one. */
  readonly apiKey?: string;
  /** A SQLite file that keeps the runs. Default: nothing is kept. */
  readonly database?: string;
};

export type RunningService = AsyncDisposable & {
  /** The base address of the API: `http://127.0.0.1:PORT/api`. */
  readonly url: string;
  readonly apiKey: string;
  /** Closes all connections. Runs continue when a service opens the same database again. */
  close(): Promise<void>;
};

/** Starts a run service on 127.0.0.1. Throws E602 for an invalid option, and if the port is taken. */
export async function startService(options: StartServiceOptions = {}): Promise<RunningService> {
  const { apiKey = randomBytes(16).toString('hex'), port = 0, speed = 1, seed = 1, faults = {} } = options;
  const { database = ':memory:', deployments } = options;
  const { base, close } = await startLocalService({
    port,
    speed,
    seed,
    faults,
    database,
    tokens: [apiKey],
    deployments: deployments ? simulatedOf(deployments) : DEMO_DEPLOYMENTS,
  });
  const end = async (): Promise<void> => void (await close());
  return { url: base, apiKey, close: end, [Symbol.asyncDispose]: end };
}

function simulatedOf(deployments: readonly object[]): readonly DeploymentSpec[] {
  const { simulated, workflows } = readDeployments(JSON.stringify(deployments));
  const [workflow] = workflows;
  if (workflow === undefined) return simulated;
  throw problem('E602', {
    what: `the deployment ${workflow.name} has a workflow, which needs a GPU server`,
    hint: 'workflows run in a service that is started as a command (docs/own-gpus.md)',
  });
}
