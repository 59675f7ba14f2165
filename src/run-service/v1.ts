// The client of a V1 service, which can only queue and read runs. It behaves like a service without lists, cancelling and
// deployments. Prices and a profile are requested in case the service has them.

import { jsonIn } from '../errors/outside-text.ts';
import type { PostFacts } from '../batch/classify-response.ts';
import { messageOf, type RawAnswer } from './answer.ts';
import { createCaller, isOk, postOnce, readAs, type Schema } from './calls.ts';
import type { RunService } from './client.ts';
import type { ServiceConnection } from './connection.ts';
import { pricingSchema, profileSchema } from './contract/deployment.ts';
import { queueToWire } from './contract/queue.ts';
import { isUnknownV1Run, V1_SAID_BEFORE, v1RunPath, v1RunSchema } from './contract/v1.ts';

export function connectV1(at: ServiceConnection): RunService {
  const ask = createCaller(at);
  const probe = async <T>(path: string, schema: Schema<T>): Promise<T | undefined> =>
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
    // Its inputs may be addresses: those of the outputs are used.
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
function readIfThere<T>(answer: RawAnswer, schema: Schema<T>): T | undefined {
  const read = isOk(answer) ? schema.safeParse(jsonIn(answer.text)) : undefined;
  return read?.success ? read.data : undefined;
}

/** V1 uses 500 for every error; only its message shows whether the error happened before a run was created. */
function withFault(facts: PostFacts): PostFacts {
  const fault = facts.status === 500 ? V1_SAID_BEFORE[facts.detail ?? ''] : undefined;
  return fault === undefined ? facts : { ...facts, fault };
}
