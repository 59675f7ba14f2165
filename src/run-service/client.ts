// The Workflow Run Service as the domain sees it. Reading calls throw coded errors; Queue Run never throws once a byte
// may have been written: it answers with the facts, and `batch/classify` decides what they mean.

import { request, type Dispatcher } from 'undici';
import type { PostFacts } from '../batch/classify.ts';
import { problem, reasonOf } from '../errors.ts';
import {
  deploymentListSchema,
  deploymentSchema,
  pricingSchema,
  type Deployment,
} from './contract/deployment.ts';
import { profileSchema, type Profile } from './contract/profile.ts';
import { queueToWire, type QueueRequest } from './contract/queue.ts';
import { runListSchema, runSchema, type Run } from './contract/run.ts';
import { lastFour, type ApiKey } from './key.ts';
import { factsOf, wordsOf, type RawAnswer } from './answer.ts';
import type { Gate, Gated } from './transport.ts';

/** Every call is bounded; Queue Run has a deadline of its own. */
const READ_DEADLINE_MS = 20_000;

export type RunServiceAt = {
  /** The V2 base address, with its trailing path segment: `https://…/api`. */
  readonly base: string;
  readonly key: ApiKey;
  readonly transport: Dispatcher;
};

export interface RunService {
  readonly base: string;
  /** `gate` is asked right before the first byte is written. */
  queueRun(
    order: QueueRequest,
    limits: { readonly gate: Gate; readonly deadlineMs: number },
  ): Promise<PostFacts>;
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

export function connectRunService(at: RunServiceAt): RunService {
  const ask = asker(at);
  const readOptional = async <T>(
    path: string,
    schema: { parse(value: unknown): T },
  ): Promise<T | undefined> => {
    const answer = await ask('GET', path);
    return isAbsent(answer) ? undefined : schema.parse(bodyOf(at, answer));
  };
  return {
    base: at.base,
    queueRun: (order, limits) => queueRun(at, order, limits),
    getRun: async (runId) => {
      const answer = await ask('GET', `/run/${runId}`);
      return isUnknownRun(answer) ? undefined : runSchema.parse(bodyOf(at, answer));
    },
    cancelRun: async (runId) => isOk(await ask('POST', `/run/${runId}/cancel`)),
    listRuns: (workflowId, { limit, offset }) =>
      readOptional(
        `/workflow/${workflowId}/runs?with_inputs=false&with_outputs=false&limit=${limit}&offset=${offset}`,
        runListSchema,
      ),
    listDeployments: () => readOptional('/deployments', deploymentListSchema),
    getDeployment: (id) => readOptional(`/deployment/${id}`, deploymentSchema),
    getPrices: () => readOptional('/platform/gpu-pricing', pricingSchema),
    getProfile: () => readOptional('/platform/profile', profileSchema),
  };
}

async function queueRun(
  at: RunServiceAt,
  order: QueueRequest,
  { gate, deadlineMs }: { gate: Gate; deadlineMs: number },
): Promise<PostFacts> {
  const body = JSON.stringify(queueToWire(order));
  const first = await post(at, body, gate, deadlineMs);
  // A 401 creates nothing, so a fresh key may be tried at once.
  return first.status === 401 && at.key.refresh() ? post(at, body, gate, deadlineMs) : first;
}

async function post(at: RunServiceAt, body: string, gate: Gate, deadlineMs: number): Promise<PostFacts> {
  let begun = false;
  const options: Gated & ReturnType<typeof send> & { body: string } = {
    ...send(at, 'POST', deadlineMs),
    body,
    gate: () => {
      gate();
      begun = true;
    },
  };
  try {
    const answer = await request(`${at.base}/run/deployment/queue`, options);
    return { begun, ...factsOf(await rawAnswer(answer)) };
  } catch (error) {
    return { begun, error: reasonOf(error) };
  }
}

const send = (at: RunServiceAt, method: 'GET' | 'POST', deadlineMs: number) => ({
  dispatcher: at.transport,
  method,
  headers: {
    authorization: `Bearer ${at.key.value}`,
    'content-type': 'application/json',
    accept: 'application/json',
  },
  signal: AbortSignal.timeout(deadlineMs),
});

async function rawAnswer(answer: Dispatcher.ResponseData): Promise<RawAnswer> {
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

/** A reading call; throws where the service cannot be reached or refuses our key. */
function asker(at: RunServiceAt): (method: 'GET' | 'POST', path: string) => Promise<RawAnswer> {
  const once = async (method: 'GET' | 'POST', path: string): Promise<RawAnswer> => {
    try {
      return await rawAnswer(await request(`${at.base}${path}`, send(at, method, READ_DEADLINE_MS)));
    } catch (error) {
      throw problem('E304', { base: at.base, reason: reasonOf(error) }, { cause: error });
    }
  };
  return async (method, path) => {
    const first = await once(method, path);
    const answer = first.status === 401 && at.key.refresh() ? await once(method, path) : first;
    if (answer.status !== 401 && answer.status !== 403) return answer;
    const { key } = at;
    throw problem('E301', {
      status: answer.status,
      detail: wordsOf(answer),
      keyFrom: key.from,
      lastFour: lastFour(key.value),
    });
  };
}

const isOk = ({ status }: RawAnswer): boolean => status >= 200 && status < 300;

/** The service's own words; a gateway that answers 404 while the service is away knows of no run. */
const isUnknownRun = (answer: RawAnswer): boolean =>
  answer.status === 404 && /^run not found/i.test(wordsOf(answer));

/** What the service does not have. The real one wraps the 404 of a missing deployment into a 500. */
const isAbsent = (answer: RawAnswer): boolean =>
  [404, 405, 410, 501].includes(answer.status) || (answer.status === 500 && wordsOf(answer).includes('404'));

function bodyOf(at: RunServiceAt, answer: RawAnswer): unknown {
  // Inputs are the only place for integers beyond 2^53, and ours are in the pages.
  if (isOk(answer)) return JSON.parse(answer.text);
  throw problem('E304', { base: at.base, reason: `it answered ${answer.status}: ${wordsOf(answer)}` });
}
