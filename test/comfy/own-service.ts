// The local run service in front of stand-ins, which can be closed and opened again on the same database.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PATHS } from '../../src/service-client/contract/paths.ts';
import {
  startLocalService,
  type LocalService,
  type LocalServiceOptions,
} from '../../src/run-service/server.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { until } from '../stage/stage.ts';
import { ComfyStandIn, type StandInOptions } from './stand-in.ts';

type PortraitGraph = Record<
  string,
  { class_type: string; inputs: Record<string, unknown>; _meta?: { title: string } }
>;

/** Draws a picture whose colour follows from its text and seed, sleeps, and saves it. */
export const portrait = (more: { seconds?: number; saver?: string; draw?: string } = {}): PortraitGraph => ({
  '3': {
    class_type: more.draw ?? 'Draw',
    inputs: { text: 'a fox', seed: 1, style: 'plain' },
    _meta: { title: 'prompt' },
  },
  '5': { class_type: 'Sleep', inputs: { image: ['3', 0], seconds: more.seconds ?? 0, steps: 1 } },
  '9': { class_type: more.saver ?? 'SaveImage', inputs: { images: ['5', 0], filename_prefix: 'ComfyUI' } },
});

/** The portrait workflow with its seed in a node of its own, whose bounds have 64 bits. */
export const seeded = (more: Parameters<typeof portrait>[0] = {}): PortraitGraph => {
  const { 3: draw, ...graph } = portrait(more);
  return {
    ...graph,
    2: { class_type: 'PrimitiveInt', inputs: { value: 1 }, _meta: { title: 'seed' } },
    3: { class_type: 'Draw', ...draw, inputs: { ...draw?.inputs, seed: ['2', 0] } },
  };
};

/** For the test that runs, in a folder of its own, unless one is given. */
export async function openStandIn({
  folder = freshFolder(),
  ...options
}: Partial<StandInOptions> = {}): Promise<ComfyStandIn> {
  const standIn = new ComfyStandIn({ folder, ...options });
  await standIn.start();
  onTestFinished(() => standIn.kill());
  return standIn;
}

/** A service in front of one stand-in. */
export async function openOwn(...more: Tail<Parameters<typeof OwnService.of>>) {
  const gpu = await openStandIn();
  return { gpu, own: await OwnService.of([gpu], ...more) };
}
type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

/** The ids of the prompts that a stand-in has, those that run first. */
export async function queueAt(gpu: ComfyStandIn): Promise<readonly string[]> {
  const { queue_running, queue_pending } = (await (await fetch(`${gpu.url}/queue`)).json()) as Record<
    'queue_running' | 'queue_pending',
    [number, string][]
  >;
  return [...queue_running, ...queue_pending].map(([, id]) => id);
}

/** Loads a picture, and saves it. */
export const COPIER: PortraitGraph = {
  '1': { class_type: 'LoadImage', inputs: { image: 'example.png' }, _meta: { title: 'photo' } },
  '9': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } },
};

export const TIMING = { pollMs: 20, pollWithSocketMs: 50, lateMs: 60, moveAfterMs: 150 };

export type Run = {
  readonly id: string;
  readonly status: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly gpu: string;
  readonly live_status: string | null;
  readonly run_duration: number | null;
  readonly lost_executions?: number;
  readonly lost_duration?: number;
  readonly outputs: readonly {
    readonly data: Readonly<Record<string, readonly { readonly url: string; readonly filename: string }[]>>;
  }[];
};

/** Whether the run may have been executed, which nobody knows. */
export const isDoubtful = ({ status, ended_at }: Run): boolean => status === 'timeout' && ended_at === null;
export const isRunning = ({ status }: Run): boolean => status === 'running';

/** How often these servers have executed the run. */
export const timesOf = (servers: readonly ComfyStandIn[], id: string): number =>
  servers.flatMap(({ executions }) => executions).filter(({ prompt_id }) => prompt_id === id).length;

/** A stand-in, or what speaks another interface. */
type Server = {
  readonly url: string;
  readonly kind?: 'comfy-api';
  readonly headersFile?: string;
  readonly seats?: number;
};
type Inputs = Readonly<Record<string, readonly string[]>>;

export class OwnService implements AsyncDisposable {
  readonly #database = join(freshFolder(), 'runs.db');
  readonly #timing: object;
  #service: LocalService | undefined;
  options: Partial<LocalServiceOptions>;
  deployment = '';

  private constructor(timing: object, options: Partial<LocalServiceOptions>) {
    this.#timing = { ...TIMING, ...timing };
    this.options = options;
  }

  /** For the test that runs. */
  static async of(
    servers: readonly Server[],
    graph: PortraitGraph = portrait(),
    timing: object = {},
    options: Partial<LocalServiceOptions> = {},
  ): Promise<OwnService> {
    const own = new OwnService(timing, options);
    await own.open();
    onTestFinished(() => own.close());
    if (servers.length > 0) await own.add(servers, graph);
    return own;
  }

  async open(): Promise<void> {
    this.#service = await startLocalService({
      port: 0,
      tokens: ['key'],
      speed: 1,
      database: this.#database,
      deployments: [],
      faults: {},
      seed: 1,
      timing: this.#timing,
      ...this.options,
    });
  }

  /** `inputs`: by names of the user. */
  async add(servers: readonly Server[], graph: PortraitGraph, inputs?: Inputs): Promise<string> {
    const {
      deployments: [added],
    } = await this.service.addGpus({
      servers: servers.map(({ url, kind, headersFile, seats }) => ({
        url,
        ...(seats !== undefined && { seats }),
        ...(kind && { kind }),
        ...(headersFile && { headersFile }),
      })),
      workflows: [{ name: 'portrait', text: JSON.stringify(graph), ...(inputs && { inputs }) }],
    });
    this.deployment = added?.id ?? '';
    return this.deployment;
  }

  /** Adds whatever a command may give, and remembers its deployment. */
  async addAny(body: object): Promise<string> {
    const { deployments } = await this.service.addGpus(body);
    this.deployment = deployments[0]?.id ?? '';
    return this.deployment;
  }

  get service(): LocalService {
    if (this.#service === undefined) throw new Error('the service is closed');
    return this.#service;
  }

  /** The folder of the files that it keeps. */
  get files(): string {
    return `${this.#database}.files`;
  }

  async close(): Promise<void> {
    await this.#service?.close();
    this.#service = undefined;
  }

  async ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly json: unknown }> {
    const answer = await fetch(`${this.service.url}/api${path}`, {
      method,
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: await answer.json() };
  }

  async queue(
    inputs: object,
    more: {
      readonly webhook?: string;
      readonly servers?: readonly string[];
      readonly run_timeout?: number;
    } = {},
  ): Promise<string> {
    const { json } = await this.ask('POST', '/run/deployment/queue', {
      deployment_id: this.deployment,
      inputs,
      ...more,
    });
    return (json as { readonly run_id: string }).run_id;
  }

  /** Uploads a picture and returns its address. */
  async upload(picture: Buffer): Promise<string> {
    const body = new FormData();
    body.set('file', new Blob([Uint8Array.from(picture)], { type: 'image/png' }), 'fox.png');
    const headers = { authorization: 'Bearer key' };
    const answer = await fetch(`${this.service.url}/api/file/upload`, { method: 'POST', headers, body });
    return ((await answer.json()) as { readonly file_url: string }).file_url;
  }

  /** Asks what only the owner of the service may ask; a POST with a body. */
  async control(path: string, body?: object): Promise<{ readonly status: number; readonly json: unknown }> {
    const answer = await fetch(`${this.service.url}/control/${path}`, {
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: await answer.json() };
  }

  async run(id: string): Promise<Run> {
    return (await this.ask('GET', `/run/${id}`)).json as Run;
  }

  async log(id: string): Promise<string> {
    const { json } = await this.ask('GET', PATHS.runLogs.replace(':run_id', id));
    return (json as readonly { readonly log: string }[]).map(({ log }) => log).join('\n');
  }

  /** The run once it is as wished; fails after ten seconds. */
  async until(id: string, isDone = (run: Run): boolean => run.ended_at !== null): Promise<Run> {
    let run = await this.run(id);
    const isSo = async (): Promise<boolean> => isDone((run = await this.run(id)));
    await until(isSo, `the run ${id} is as wished`);
    return run;
  }

  /** The bytes of its first file. */
  async picture({ outputs }: Run): Promise<Buffer> {
    const url = Object.values(outputs[0]?.data ?? {})[0]?.[0]?.url ?? '';
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
