// The entry `runsheet/service`: a local run service inside another program, such as a test. It costs nothing.

import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { definedOnly } from '../options/defined-only.ts';
import { DEMO_DEPLOYMENTS, type deploymentSpecSchema, readDeployments } from './deployments.ts';
import { startLocalService } from './server.ts';

export type ServiceOptions = {
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

/** Starts a run service on 127.0.0.1. Throws E602 for options that it does not take, and if the port is taken. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const { deployments, apiKey = randomBytes(16).toString('hex'), ...settings } = options;
  const { base, close } = await startLocalService({
    port: 0,
    speed: 1,
    seed: 1,
    faults: {},
    database: ':memory:',
    ...definedOnly(settings),
    tokens: [apiKey],
    deployments: deployments ? readDeployments(JSON.stringify(deployments)).simulated : DEMO_DEPLOYMENTS,
  });
  const end = async (): Promise<void> => void (await close());
  return { url: base, apiKey, close: end, [Symbol.asyncDispose]: end };
}
