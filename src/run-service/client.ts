// The Workflow Run Service as the domain sees it. Reading calls throw coded errors; Queue Run never throws once a byte
// may have been written: it answers with the facts, and `batch/classify` decides what they mean.

import type { ServiceConnection } from './connection.ts';
import type { PostFacts } from '../batch/classify-response.ts';
import {
  deploymentListSchema,
  deploymentSchema,
  pricingSchema,
  type Deployment,
} from './contract/deployment.ts';
import { profileSchema, type Profile } from './contract/profile.ts';
import { queueToWire, type QueueRequest } from './contract/queue.ts';
import { runListSchema, runSchema, type Run } from './contract/run.ts';
import { messageOf, type RawAnswer } from './answer.ts';
import {
  asker,
  isAbsent,
  isAbsentDeployment,
  isOk,
  postOnce,
  readAs,
  type PostLimits,
  type Schema,
} from './calls.ts';

export interface RunService {
  readonly base: string;
  /** The service's own time, in milliseconds since 1970; undefined before an answer said what time it is. */
  nowMs(): number | undefined;
  /** `beforeSend` is called right before the first byte is written. */
  queueRun(order: QueueRequest, limits: PostLimits): Promise<PostFacts>;
  /** undefined where the service knows no such run. */
  getRun(runId: string): Promise<Run | undefined>;
  /** False where the service would not cancel it. */
  cancelRun(runId: string): Promise<boolean>;
  /** Runs of a workflow, newest first, with their webhooks; undefined where the service has no such list. */
  listRuns(
    workflowId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Run[] | undefined>;
  /** undefined where the service does not list deployments. */
  listDeployments(): Promise<readonly Deployment[] | undefined>;
  /** undefined where the service has no such deployment, or no way to read one. */
  getDeployment(id: string): Promise<Deployment | undefined>;
  /** US dollars a second by GPU; undefined where the service does not tell. */
  getPrices(): Promise<Readonly<Record<string, number>> | undefined>;
  /** How the service wishes to be asked; undefined where it does not tell. */
  getProfile(): Promise<Profile | undefined>;
}

export function connectRunService(at: ServiceConnection): RunService {
  const ask = asker(at);
  const readOptional = async <T>(path: string, schema: Schema<T>): Promise<T | undefined> => {
    const answer = await ask('GET', path);
    return isAbsent(answer) ? undefined : readAs(at, path, answer, schema);
  };
  return {
    base: at.base,
    nowMs: () => at.clock.nowMs(),
    queueRun: (order, limits) => postOnce(at, '/run/deployment/queue', queueToWire(order), limits),
    getRun: async (runId) => {
      const path = `/run/${runId}`;
      const answer = await ask('GET', path);
      return isUnknownRun(answer) ? undefined : readAs(at, path, answer, runSchema);
    },
    cancelRun: async (runId) => isOk(await ask('POST', `/run/${runId}/cancel`)),
    listRuns: (workflowId, { limit, offset }) =>
      readOptional(
        `/workflow/${workflowId}/runs?with_inputs=false&with_outputs=false&limit=${limit}&offset=${offset}`,
        runListSchema,
      ),
    listDeployments: () => readOptional('/deployments', deploymentListSchema),
    getDeployment: async (id) => {
      const path = `/deployment/${id}`;
      const answer = await ask('GET', path);
      return isAbsentDeployment(answer) ? undefined : readAs(at, path, answer, deploymentSchema);
    },
    getPrices: () => readOptional('/platform/gpu-pricing', pricingSchema),
    getProfile: () => readOptional('/platform/profile', profileSchema),
  };
}

/** The service's own words; a gateway that answers 404 while the service is away knows of no run. */
const isUnknownRun = (answer: RawAnswer): boolean =>
  answer.status === 404 && /^run not found/i.test(messageOf(answer));
