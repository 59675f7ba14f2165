// The client of the Workflow Run Service. Reading calls throw coded errors. Queue Run never throws: it returns facts, and
// `batch/classify-response` decides what they mean.

import type { ServiceConnection } from './connection.ts';
import type { PostFacts } from '../batch/classify-response.ts';
import {
  deploymentListSchema,
  deploymentSchema,
  pricingSchema,
  type Deployment,
  profileSchema,
  type Profile,
} from './contract/deployment.ts';
import { runLogSchema, type LogLine, runListSchema, runSchema, type Run } from './contract/run.ts';
import { PATHS } from './contract/paths.ts';
import { queueToWire, type QueueRequest } from './contract/queue.ts';
import { messageOf, type RawAnswer } from './answer.ts';
import { sendFile, type FileToSend } from './send-file.ts';
import {
  createCaller,
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
  /** The service's own time, in milliseconds since 1970; undefined before the first answer with a date. */
  nowMs(): number | undefined;
  /** `beforeSend` is called right before the first byte is written. */
  queueRun(request: QueueRequest, limits: PostLimits): Promise<PostFacts>;
  /** undefined if the service does not know the run. */
  getRun(runId: string): Promise<Run | undefined>;
  /** The lines of its log up to now; undefined if the service has no logs. */
  getRunLog(runId: string): Promise<readonly LogLine[] | undefined>;
  /** Stores a file, and returns its address for inputs; undefined if the service takes no files. */
  sendFile(file: FileToSend): Promise<string | undefined>;
  /** False if the service refuses to cancel it. */
  cancelRun(runId: string): Promise<boolean>;
  /** Runs of a workflow, newest first, with their webhooks; undefined if the service has no run lists. */
  listRuns(
    workflowId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Run[] | undefined>;
  /** undefined if the service does not list deployments. */
  listDeployments(): Promise<readonly Deployment[] | undefined>;
  /** undefined if the service does not have the deployment, or cannot show deployments. */
  getDeployment(id: string): Promise<Deployment | undefined>;
  /** US dollars per second by GPU; undefined if the service does not publish prices. */
  getPrices(deploymentId?: string): Promise<Readonly<Record<string, number>> | undefined>;
  /** The service's recommended intervals; undefined if it does not publish them. */
  /** For a deployment: one service may simulate some, and run others on real GPUs. */
  getProfile(deploymentId?: string): Promise<Profile | undefined>;
}

export function connectRunService(at: ServiceConnection): RunService {
  const ask = createCaller(at);
  const readOptional = async <T>(path: string, schema: Schema<T>): Promise<T | undefined> => {
    const answer = await ask('GET', path);
    return isAbsent(answer) ? undefined : readAs(at, path, answer, schema);
  };
  return {
    base: at.base,
    nowMs: () => at.clock.nowMs(),
    queueRun: (request, limits) => postOnce(at, '/run/deployment/queue', queueToWire(request), limits),
    getRun: async (runId) => {
      const path = `/run/${runId}`;
      const answer = await ask('GET', path);
      return isUnknownRun(answer) ? undefined : readAs(at, path, answer, runSchema);
    },
    getRunLog: (runId) => readOptional(PATHS.runLogs.replace(':run_id', runId), runLogSchema),
    sendFile: (file) => sendFile(at, file),
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
    getPrices: (deploymentId) => readOptional(forDeployment(PATHS.pricing, deploymentId), pricingSchema),
    getProfile: (deploymentId) => readOptional(forDeployment(PATHS.profile, deploymentId), profileSchema),
  };
}

/** Only the local run service distinguishes deployments there. */
const forDeployment = (path: string, deploymentId: string | undefined): string =>
  deploymentId === undefined ? path : `${path}?deployment_id=${encodeURIComponent(deploymentId)}`;

/** Checks the service's own message, because a gateway may answer 404 while the service is unreachable. */
const isUnknownRun = (answer: RawAnswer): boolean =>
  answer.status === 404 && /^run not found/i.test(messageOf(answer));
