// Opens the run services of a process: the configured one, and the local one of its state folder.

import { jsonIn } from '../errors/outside-text.ts';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Config } from '../host/settings/config.ts';
import { problem } from '../errors/error.ts';
import type { Api } from '../host/api-version.ts';
import { connectRunService, type RunService } from './client.ts';
import { type ServiceConnection, ServiceClock } from './connection.ts';
import { LOCAL, localService } from '../host/local-address.ts';
import { remembering, type RememberingService } from './remembering.ts';
import { randomUUID } from 'node:crypto';
import { createCaller, messageOf, type RawAnswer, isOk, postOnce, readAs } from './calls.ts';
import { errorSchema, queueToWire } from './contract/queue.ts';
import { isUnknownV1Run, v1RunPath, V1_SAID_BEFORE, v1RunSchema } from './contract/v1.ts';
import type { PostFacts } from '../batch/classify-response.ts';
import { pricingSchema, profileSchema } from './contract/deployment.ts';

export type Spoken = { readonly base: string; readonly api: Api };

const CONNECT = { v1: connectV1, v2: connectRunService };

export function openServices(
  config: Pick<Config, 'home' | 'apiKey'>,
  transport: Dispatcher,
  /** Separate connections for Queue Run calls, which may take minutes and must not delay reads. */
  posts: Dispatcher = transport,
  observe?: ServiceConnection['observe'],
) {
  const byAddress = new Map<string, RememberingService>();
  return {
    /** The service at a base address, or the local one. Throws E306 without a key, E304 if no local one was started. */
    at: ({ base, api }: Spoken): RememberingService => {
      const address = base === LOCAL ? localAddress(config.home) : setAddress(config, base);
      const name = `${api} ${address.base} ${address.key.value}`;
      const service =
        byAddress.get(name) ??
        remembering(CONNECT[api]({ ...address, transport, posts, clock: new ServiceClock(), observe }));
      byAddress.set(name, service);
      return service;
    },
    /** The API version at a base address. Throws like {@link whichApi}, and E306 without a key. */
    apiAt: async (base: string): Promise<Api> =>
      whichApi({ ...setAddress(config, base), transport, clock: new ServiceClock() }),
  };
}
export type Services = ReturnType<typeof openServices>;

function localAddress(home: string) {
  const address = localService(home);
  if (address === undefined)
    throw problem('E304', { base: LOCAL, reason: `no local run service was started in ${home}` });
  return address;
}

function setAddress({ apiKey }: Pick<Config, 'apiKey'>, base: string) {
  const key = apiKey(base);
  if (key === undefined) throw problem('E306', { base });
  return { base, key };
}

const NO_RUN_ID = 'no-run-id';
const SHOWN = 80;

/** Throws E301 if the key is refused, E304 if nothing answers, E307 if the answers are not those of a run service. */
export async function whichApi(at: ServiceConnection): Promise<Api> {
  const ask = createCaller(at);
  const malformed = await ask('GET', `/run/${NO_RUN_ID}`);
  if (isValidationFailure(malformed)) return 'v2';
  const unknown = await ask('GET', v1RunPath(randomUUID()));
  if (isUnknownV1Run(unknown.status, messageOf(unknown))) return 'v1';
  // A gateway answers for an unreachable service.
  if (malformed.status >= 500 && unknown.status >= 500)
    throw problem('E304', { base: at.base, reason: `it answered ${shown(malformed)}` });
  throw problem('E307', {
    base: at.base,
    answers: [`GET /run/${NO_RUN_ID}: ${shown(malformed)}`, `GET /run?run_id=…: ${shown(unknown)}`],
  });
}

function isValidationFailure({ status, text }: RawAnswer): boolean {
  const error = errorSchema.safeParse(jsonIn(text));
  const hasProblems = error.success && Array.isArray(error.data.detail) && error.data.detail.length > 0;
  return status >= 400 && status < 500 && hasProblems;
}

const shown = (answer: RawAnswer): string => `${answer.status} ${messageOf(answer).slice(0, SHOWN)}`.trim();

// The client of a V1 service, which can only queue and read runs. It behaves like a service without lists, cancellation and
// deployments. Prices and a profile are requested in case the service has them.
export function connectV1(at: ServiceConnection): RunService {
  const ask = createCaller(at);
  const probe = async <T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> =>
    readIfThere(await ask('GET', path), schema);
  return {
    base: at.base,
    nowMs: () => at.clock.nowMs(),
    queueRun: async (request, limits) => withFault(await postOnce(at, '/run', queueToWire(request), limits)),
    getRun: async (runId) => {
      const path = v1RunPath(runId);
      const answer = await ask('GET', path);
      const isUnknown = isUnknownV1Run(answer.status, messageOf(answer));
      return isUnknown ? undefined : readAs(at, path, answer, v1RunSchema);
    },
    getRunLog: async () => undefined,
    // V1 stores no files, so rows can only use addresses that exist elsewhere.
    sendFile: async () => undefined,
    cancelRun: async () => false,
    listRuns: async () => undefined,
    listDeployments: async () => undefined,
    getDeployment: async () => undefined,
    getPrices: () => probe('/platform/gpu-pricing', pricingSchema),
    getProfile: () => probe('/platform/profile', profileSchema),
  };
}

/** V1 answers an unknown address with an HTML page, whatever the status. */
function readIfThere<T>(answer: RawAnswer, schema: z.ZodType<T>): T | undefined {
  const read = isOk(answer) ? schema.safeParse(jsonIn(answer.text)) : undefined;
  return read?.success ? read.data : undefined;
}

/** V1 uses 500 for every error; only the message shows whether a run was created before. */
function withFault(facts: PostFacts): PostFacts {
  const fault = facts.status === 500 ? V1_SAID_BEFORE[facts.detail ?? ''] : undefined;
  return fault === undefined ? facts : { ...facts, fault };
}
