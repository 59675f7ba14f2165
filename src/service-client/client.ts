// The client of the Workflow Run Service. Reads throw coded errors. Queue Run never throws: it returns facts, and
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
import { PATHS, uploadedSchema } from './contract/paths.ts';
import { queueToWire, type QueueRequest } from './contract/queue.ts';
import {
  createCaller,
  isAbsent,
  isAbsentDeployment,
  isOk,
  postOnce,
  readAs,
  type PostLimits,
  messageOf,
  type RawAnswer,
  keyRefused,
  headersOf,
} from './calls.ts';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { request as send } from 'undici';
import type { z } from 'zod';
import { errorMessage, problem } from '../errors/error.ts';
import { waitInCall, withCallSignal } from '../host/call-signal.ts';
import { mediaTypeOf } from '../host/formats/media-types.ts';

export interface RunService {
  readonly base: string;
  /** The service's own time, in milliseconds since 1970; undefined before the first answer with a date. */
  nowMs(): number | undefined;
  /** `beforeSend` is called right before the first byte is written. */
  queueRun(request: QueueRequest, limits: PostLimits): Promise<PostFacts>;
  /** undefined if the service does not know the run. */
  getRun(runId: string): Promise<Run | undefined>;
  /** The log lines up to now; undefined if the service has no logs. */
  getRunLog(runId: string): Promise<readonly LogLine[] | undefined>;
  /** Stores a file and returns its address for inputs; undefined if the service takes no files. */
  sendFile(file: FileToSend): Promise<string | undefined>;
  /** False if the service refuses to cancel the run. */
  cancelRun(runId: string): Promise<boolean>;
  /** Runs of a workflow, newest first, with their webhooks; undefined if the service has no run lists. */
  listRuns(
    workflowId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Run[] | undefined>;
  /** undefined if the service does not list deployments. */
  listDeployments(): Promise<readonly Deployment[] | undefined>;
  /**
   * undefined if the service does not have the deployment, or cannot show deployments. `servers`: the only servers that may
   * execute its runs.
   */
  getDeployment(id: string, servers?: readonly string[]): Promise<Deployment | undefined>;
  /** US dollars per second by GPU; undefined if the service does not publish prices. */
  getPrices(deploymentId?: string): Promise<Readonly<Record<string, number>> | undefined>;
  /**
   * The service's recommended intervals; undefined if it publishes none. They depend on the deployment, because one service may
   * simulate some deployments and run others on real GPUs.
   */
  getProfile(deploymentId?: string): Promise<Profile | undefined>;
}

export function connectRunService(at: ServiceConnection): RunService {
  const ask = createCaller(at);
  const readOptional = async <T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> => {
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
    getDeployment: async (id, servers = []) => {
      const among = servers.length === 0 ? '' : `?servers=${encodeURIComponent(servers.join(' '))}`;
      const path = `/deployment/${id}${among}`;
      const answer = await ask('GET', path);
      return isAbsentDeployment(answer) ? undefined : readAs(at, path, answer, deploymentSchema);
    },
    getPrices: (deploymentId) => readOptional(forDeployment(PATHS.pricing, deploymentId), pricingSchema),
    getProfile: (deploymentId) => readOptional(forDeployment(PATHS.profile, deploymentId), profileSchema),
  };
}

/** Only the local run service distinguishes deployments here. */
const forDeployment = (path: string, deploymentId: string | undefined): string =>
  deploymentId === undefined ? path : `${path}?deployment_id=${encodeURIComponent(deploymentId)}`;

/** Checks the service's own message, because a gateway may answer 404 while the service is unreachable. */
const isUnknownRun = (answer: RawAnswer): boolean =>
  answer.status === 404 && /^run not found/i.test(messageOf(answer));

// A file to upload, so that its address can be an input. An upload buys nothing and may be repeated.
export type FileToSend = {
  readonly name: string;
  readonly bytes: number;
  /** Opens the content from its beginning; called again for each try. */
  open(): AsyncIterable<Uint8Array>;
};

/** Allows minutes for 250 MB, the largest file, on a slow line. */
const DEADLINE_MS = 900_000;
const TRIES = 4;
const AGAIN_MS = 1_000;

/**
 * Uploads a file and returns its address; undefined if the service takes no files. Throws E301 if the service refuses the key,
 * E304 if it cannot be reached or refuses the file, and the errors of `open`.
 */
async function sendFile(at: ServiceConnection, file: FileToSend): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendOnce(at, file, tries === TRIES);
    const isLate = answer === undefined || answer.status >= 500 || answer.status === 429;
    if (isLate && tries < TRIES) await waitInCall(AGAIN_MS * 2 ** (tries - 1));
    else if (answer?.status === 401 && tries < TRIES && at.key.refresh()) continue;
    else if (answer !== undefined) return addressIn(at, answer);
  }
}

/** undefined if the service could not be reached and another try follows. */
async function sendOnce(
  at: ServiceConnection,
  file: FileToSend,
  isLast: boolean,
): Promise<RawAnswer | undefined> {
  const edge = `runsheet-${randomUUID()}`;
  const begin = Buffer.from(
    `--${edge}\r\ncontent-disposition: form-data; name="file"; filename="${quotable(file.name)}"\r\ncontent-type: ${sentAs(file.name)}\r\n\r\n`,
  );
  const end = Buffer.from(`\r\n--${edge}--\r\n`);
  let fault: unknown;
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    yield begin;
    try {
      yield* file.open();
    } catch (error) {
      fault = error;
      throw error;
    }
    yield end;
  };
  try {
    const answer = await send(`${at.base}${PATHS.upload}`, {
      dispatcher: at.transport,
      method: 'POST',
      headers: {
        ...headersOf(at, `multipart/form-data; boundary=${edge}`),
        'content-length': String(begin.length + file.bytes + end.length),
      },
      body: Readable.from(parts()),
      signal: withCallSignal(AbortSignal.timeout(DEADLINE_MS)),
    });
    at.clock.note(answer.headers['date']);
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  } catch (error) {
    // An unreadable file is no fault of the service.
    if (fault !== undefined) throw fault;
    if (isLast) throw problem('E304', { base: at.base, reason: errorMessage(error) }, { cause: error });
    return undefined;
  }
}

function addressIn(at: ServiceConnection, answer: RawAnswer): string | undefined {
  if (isAbsent(answer)) return undefined;
  if (answer.status === 401 || answer.status === 403) throw keyRefused(at, answer);
  // Throws for every status but a success.
  return readAs(at, PATHS.upload, answer, uploadedSchema);
}

/** The service takes images, videos, audio and applications, but no texts and no models. */
const sentAs = (name: string): string =>
  mediaTypeOf(name).replace(/^(?:text|model)\/.*/, 'application/octet-stream');

/** Replaces characters that would break the quotes of a header. */
const quotable = (name: string): string => name.replaceAll(/["\\\r\n]/g, '_');
