// ComfyUI's own HTTP interface. Two of its habits decide how it is used. An id that is sent twice is executed
// twice, so a client must look before it sends again. A run only moves forward, from the queue into the
// history, so the queue is read first.

import { listenToSocket } from './comfyui-socket.ts';
import { randomUUID } from 'node:crypto';
import { FormData } from 'undici';
import { z } from 'zod';
import { errorMessage } from '../../../errors/error.ts';
import { isRawNumber, type RawNumber } from '../../../host/formats/exact-json.ts';
import { shortened, terminalLine } from '../../../errors/outside-text.ts';
import {
  Unreachable,
  graphIn,
  unread,
  type Backend,
  type ClassInput,
  type FileRef,
  type NodeClass,
  type Seen,
  type Submitted,
} from '../backend.ts';
import { endOf, historySchema } from './comfyui-history.ts';
import {
  exactJsonIn,
  jsonIn,
  openHttp,
  parsed,
  retryAfterMs,
  shown,
  type ServerAnswer,
  type Http,
} from '../http.ts';

type ServerAddress = {
  /** `http://gpu-1:8188`, without a trailing slash. */
  readonly url: string;
  /** Headers of every request, such as an authorization for a proxy. */
  readonly headers: Readonly<Record<string, string>>;
};

const MAX_NAME = 60;
const RECENT = 10;
/** The server's folder for our input files. */
const INPUTS = 'runsheet';

const viewOf = ({ filename, subfolder, type }: FileRef): string =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`;

/** `sub/a.png` is in the input folder, `a.png [output]` in the output folder. */
function refOf(name: string): FileRef {
  const [, path = name, type = 'input'] = /^(.*?)(?:(?<!\s)\s*\[(input|output|temp)\])?$/s.exec(name) ?? [];
  const at = path.lastIndexOf('/');
  return { filename: path.slice(at + 1), subfolder: path.slice(0, Math.max(0, at)), type };
}

/** The validation of a large workflow may load custom nodes. */
const SUBMIT_MS = 120_000;

export function openComfyui({ url, headers }: ServerAddress): Backend {
  const http = openHttp(url, headers);
  const { read, post } = http;
  /** Our id for the websocket: progress goes only to the client that sent the run. */
  let clientId: string = randomUUID();
  return {
    kind: 'comfyui',
    guarantee: { lost: 'asked', gone: 'again' },
    seats: { kind: 'ahead' },
    async describe() {
      const { system, devices } = await read('/system_stats', statsSchema);
      const named = (text: string): string => shortened(terminalLine(text), MAX_NAME);
      return { version: named(system.comfyui_version ?? 'unknown'), gpu: named(gpuName(devices[0]?.name)) };
    },
    async recent() {
      const history = read(`/history?max_items=${RECENT}`, z.record(z.string(), z.unknown()));
      const [{ running, waiting }, ended] = await Promise.all([queueOf(http), history]);
      return new Set([...running, ...waiting, ...Object.keys(ended)]);
    },
    async nodeClass(name) {
      const path = `/object_info/${encodeURIComponent(name)}`;
      const classes = parsed(path, await http.ask(path), z.record(z.string(), classSchema), exactJsonIn)[
        name
      ];
      return classes === undefined ? undefined : nodeClassOf(classes);
    },
    submit: ({ id }, work) =>
      submit(http, id, JSON.stringify({ prompt: graphIn(work), prompt_id: id, client_id: clientId })),
    async poll(runs) {
      const { running, waiting, twice } = await queueOf(http);
      // A request that timed out may still have arrived, so one of two equal entries is removed.
      const late = runs.map(({ id }) => id).filter((id) => twice.has(id));
      if (late.length > 0) await post('/queue', { delete: late });
      const left = runs.map(({ id }) => id).filter((id) => !running.has(id) && !waiting.has(id));
      const seen = left.map(async (id): Promise<readonly [string, Seen]> => [
        id,
        await read(`/history/${id}`, historySchema).then(({ [id]: entry }): Seen => {
          return entry === undefined ? { at: 'absent' } : { at: 'ended', end: endOf(entry) };
        }, unread),
      ]);
      return new Map<string, Seen>([
        ...[...waiting].map((id, at) => [id, { at: 'waiting', ahead: running.size + at }] as const),
        ...[...running].map((id) => [id, { at: 'running' }] as const),
        ...(await Promise.all(seen)),
      ]);
    },
    // Interrupting what does not run would end the run of another client in older releases.
    cancel: (id, at) =>
      at === 'running' ? post('/interrupt', { prompt_id: id }) : post('/queue', { delete: [id] }),
    hasFile: async (name) => (await http.sizeOf(viewOf(refOf(name)))) !== undefined,
    file: (ref) => http.open(viewOf(ref)),
    async put({ name, content }) {
      // The name is the hash of the content, so an equal size means an equal file.
      const storedSize = await http.sizeOf(viewOf({ filename: name, subfolder: INPUTS, type: 'input' }));
      if (storedSize === content.size) return `${INPUTS}/${name}`;
      const form = new FormData();
      form.set('image', content, name);
      form.set('subfolder', INPUTS);
      form.set('overwrite', 'true');
      const put = await http.upload('/upload/image', form, uploadSchema);
      return put.subfolder === '' ? put.name : `${put.subfolder}/${put.name}`;
    },
    // ComfyUI forgets a client id when an older connection with it ends, however late, so each connection has
    // a new id.
    listen: (on) =>
      listenToSocket({ url, headers, dispatcher: http.dispatcher }, () => (clientId = randomUUID()), on),
    close: http.close,
  };
}

async function submit(http: Http, id: string, body: string): Promise<Submitted> {
  const answer = await http
    .ask('/prompt', body, { waitMs: SUBMIT_MS })
    .catch((error: unknown) => errorMessage(error));
  if (typeof answer === 'string') return { kind: 'unclear', reason: answer };
  const submitted = submittedOf(id, answer);
  // ComfyUI accepted only part of the workflow, and a partial result is of no use.
  if (submitted.kind === 'refused' && answer.status === 200) await withdraw(http, acceptedIdIn(answer) ?? id);
  return submitted;
}

/** A failed withdrawal is repeated by the next poll, which clears runs that are over. */
async function withdraw(http: Http, id: string): Promise<void> {
  try {
    await http.post('/queue', { delete: [id] });
    if ((await queueOf(http)).running.has(id)) await http.post('/interrupt', { prompt_id: id });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}

/** An old ComfyUI ignores our id and gives the run its own. */
const acceptedIdIn = ({ text }: ServerAnswer) => acceptedSchema.safeParse(jsonIn(text)).data?.prompt_id;

async function queueOf({
  read,
}: Http): Promise<Record<'running' | 'waiting' | 'twice', ReadonlySet<string>>> {
  const { queue_running, queue_pending } = await read('/queue', queueSchema);
  // ComfyUI shows its heap, in which only the first run is at its position.
  const inOrder = queue_pending.toSorted(([first], [second]) => Number(first) - Number(second));
  const [running, waiting] = [queue_running.map(idOf), inOrder.map(idOf)];
  return {
    running: new Set(running),
    waiting: new Set(waiting),
    twice: repeatedIn([...running, ...waiting]),
  };
}

const repeatedIn = (ids: readonly string[]): ReadonlySet<string> =>
  new Set([...Map.groupBy(ids, (id) => id)].flatMap(([id, times]) => (times.length > 1 ? [id] : [])));

const itemSchema = z.tuple([z.unknown(), z.string()]).rest(z.unknown());
const queueSchema = z.object({ queue_running: z.array(itemSchema), queue_pending: z.array(itemSchema) });
const idOf = (item: z.output<typeof itemSchema>): string => item[1];
const statsSchema = z.object({
  system: z.object({ comfyui_version: z.string().optional() }),
  devices: z.array(z.object({ name: z.string() })).default([]),
});
const uploadSchema = z.object({ name: z.string(), subfolder: z.string().default('') });
const classSchema = z.object({
  input: z
    .object({
      required: z.record(z.string(), z.array(z.unknown())).optional(),
      optional: z.record(z.string(), z.array(z.unknown())).optional(),
    })
    .optional(),
  output: z.array(z.unknown()).optional().catch(undefined),
  output_name: z.array(z.unknown()).optional().catch(undefined),
  display_name: z.string().optional().catch(undefined),
  output_node: z.boolean().optional(),
  api_node: z.boolean().optional(),
});
/** Keeps all digits of a bound: the largest seed is 2^64 - 1. */
const boundSchema = z.union([
  z.number().transform(String),
  z.custom<RawNumber>(isRawNumber).transform(({ rawJSON }) => rawJSON),
]);
const limitsSchema = z
  .object({
    default: z.unknown().optional(),
    min: boundSchema.optional().catch(undefined),
    max: boundSchema.optional().catch(undefined),
    options: z.array(z.unknown()).optional().catch(undefined),
    image_upload: z.boolean().optional().catch(undefined),
    video_upload: z.boolean().optional().catch(undefined),
    audio_upload: z.boolean().optional().catch(undefined),
    file_upload: z.boolean().optional().catch(undefined),
  })
  .catch({});

/** Shortens `cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync` to RTX 4090. */
const gpuName = (device = ''): string =>
  device === 'cpu' || device === ''
    ? 'CPU'
    : device
        .replace(/^\w+:\d+\s+/, '')
        .replace(/(?<!\s)\s+:.*$/, '')
        .replace(/^NVIDIA\s+/, '')
        .replace(/^GeForce\s+/, '');

function nodeClassOf(own: z.output<typeof classSchema>): NodeClass {
  const { input = {}, output = [], output_name: names = [] } = own;
  const required = Object.entries(input.required ?? {});
  const optional = Object.entries(input.optional ?? {});
  return {
    inputs: Object.fromEntries([
      ...required.map(([name, [type, more]]) => [name, { ...classInput(type, more), isRequired: true }]),
      ...optional.map(([name, [type, more]]) => [name, classInput(type, more)]),
    ]),
    displayName: own.display_name,
    outputs: output.map((type, slot) => ({
      name: String(names[slot] ?? type),
      type: Array.isArray(type) ? 'COMBO' : String(type),
    })),
    isOutput: own.output_node === true,
    isPaid: own.api_node === true,
  };
}

/** A list in the place of a type holds the choices; newer releases write `COMBO` and put the options beside it. */
function classInput(type: unknown, more: unknown): ClassInput {
  const limits = limitsSchema.parse(more ?? {});
  const upload = (['image', 'video', 'audio', 'file'] as const).find(
    (kind) => limits[`${kind}_upload`] === true,
  );
  return {
    type: Array.isArray(type) ? 'COMBO' : String(type),
    default: limits.default,
    min: limits.min,
    max: limits.max,
    options: choicesIn(Array.isArray(type) ? type : limits.options),
    isFile: upload !== undefined,
    upload,
  };
}

/** A list with members that are not texts, or an empty list that the browser fills, says nothing about what a class accepts. */
const choicesIn = (options: readonly unknown[] | undefined): readonly string[] | undefined =>
  options !== undefined && options.length > 0 && options.every((option) => typeof option === 'string')
    ? options
    : undefined;

const acceptedSchema = z.object({
  prompt_id: z.string(),
  node_errors: z.record(z.string(), z.unknown()).default({}),
});
const refusedSchema = z.object({
  error: z.object({ message: z.string(), details: z.string().default('') }),
  node_errors: z.record(z.string(), z.unknown()).default({}).catch({}),
});
const nodeErrorsSchema = z.record(
  z.string(),
  z.object({
    class_type: z.string().default(''),
    errors: z.array(z.object({ message: z.string(), details: z.string().default('') })),
  }),
);

/** Nothing was accepted, but a later try may be. */
const BUSY: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 407, 429, 503]);

function submittedOf(id: string, { status, text, headers }: ServerAnswer): Submitted {
  const body = jsonIn(text);
  if (status === 200) {
    const accepted = acceptedSchema.safeParse(body);
    if (!accepted.success) return { kind: 'unclear', reason: `answered 200: ${shown(text)}` };
    if (Object.keys(accepted.data.node_errors).length > 0)
      return { kind: 'refused', reason: nodesText(accepted.data.node_errors) };
    return accepted.data.prompt_id === id
      ? { kind: 'accepted' }
      : { kind: 'refused', reason: 'this ComfyUI is too old: it does not take the id of a run' };
  }
  const refused = status === 400 ? refusedSchema.safeParse(body) : undefined;
  if (refused?.success === true) {
    const { error, node_errors } = refused.data;
    const nodes = nodesText(node_errors);
    return { kind: 'refused', reason: [error.message, error.details, nodes].filter(Boolean).join(': ') };
  }
  if (BUSY.has(status))
    return {
      kind: 'busy',
      afterMs: retryAfterMs(headers),
      reason: `answered ${status}: ${shown(text)}`,
    };
  // An intermediary answered. Behind a 5xx, ComfyUI may have queued the run.
  return status === 413
    ? { kind: 'refused', reason: `answered ${status}: ${shown(text)}` }
    : { kind: 'unclear', reason: `answered ${status}: ${shown(text)}` };
}

/** Formats `node 3 (KSampler): Value not in list: sampler_name: 'x' not in […]`. */
function nodesText(errors: Readonly<Record<string, unknown>>): string {
  const read = nodeErrorsSchema.safeParse(errors);
  if (!read.success) return shown(JSON.stringify(errors));
  return Object.entries(read.data)
    .map(([node, { class_type, errors: own }]) => {
      const texts = own.map(({ message, details }) => [message, details].filter(Boolean).join(': '));
      return `node ${node} (${class_type}): ${texts.join('; ')}`;
    })
    .join('; ');
}
