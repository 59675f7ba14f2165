// The HTTP interface of the stand-in: what each request does to the process, and its answer.

import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { parseExactly } from '../../src/host/formats/exact-json.ts';
import type { ComfyProcess } from './comfy-process.ts';
import { describeClass, type Graph, type Stock } from './node-classes.ts';
import { validate } from './validation.ts';

export type Request = {
  readonly method: string;
  readonly url: URL;
  readonly type: string;
  readonly body: Buffer;
};
export type Answer = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
};

/** The resources of the process. */
export type Server = Stock & {
  readonly process: ComfyProcess;
  readonly classes: ReadonlySet<string>;
  readonly device: string;
};

type Route = (server: Server, request: Request, rest: string) => Answer | Promise<Answer>;

const ROUTES: Readonly<Record<string, Route>> = {
  'POST /prompt': (server, request) => postPrompt(server, bodyOf(request)),
  'GET /prompt': ({ process }) => json(process.queue.info()),
  'GET /queue': ({ process }) => json(process.queue.queue()),
  'POST /queue': ({ process }, request) => {
    const { clear, delete: ids } = bodyOf(request);
    if (clear) process.queue.clear();
    if (ids) process.queue.delete(ids);
    return EMPTY;
  },
  'GET /history': ({ process }) => json(process.queue.history()),
  'GET /history/*': ({ process }, _request, id) => json(process.queue.history(id)),
  'POST /history': ({ process }, request) => {
    const { clear, delete: ids } = bodyOf(request);
    if (clear) process.queue.forget();
    if (ids) process.queue.forget(ids);
    return EMPTY;
  },
  'POST /interrupt': ({ process }, request) => {
    process.interrupt(request.body.length > 0 ? bodyOf(request).prompt_id : undefined);
    return EMPTY;
  },
  'GET /view': ({ files }, { url }) => {
    const body = files.view(url.searchParams);
    if (typeof body === 'number') return { status: body };
    const name = url.searchParams.get('filename') ?? '';
    const type = extname(name) === '.png' ? 'image/png' : 'application/octet-stream';
    return {
      status: 200,
      headers: { 'content-type': type, 'content-disposition': `filename="${name}"` },
      body,
    };
  },
  'POST /upload/image': uploadImage,
  'GET /object_info': ({ classes, ...stock }) =>
    json(Object.fromEntries([...classes].map((name) => [name, describeClass(name, stock)]))),
  'GET /object_info/*': ({ classes, ...stock }, _request, name) =>
    json(classes.has(name) ? { [name]: describeClass(name, stock) } : {}),
  'GET /system_stats': ({ device }) => json(stats(device)),
};

const EMPTY: Answer = { status: 200 };

export async function answer(server: Server, request: Request): Promise<Answer> {
  const path = request.url.pathname.replace(/^\/api(?=\/)/, '');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const [, parent = '', lastPart = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
  const route = ROUTES[`${method} ${path}`] ?? ROUTES[`${method} ${parent}/*`];
  if (!route) return { status: 404 };
  try {
    return await route(server, request, decodeURIComponent(lastPart));
  } catch {
    return BROKEN;
  }
}

/** The answer of aiohttp if a handler throws. */
const BROKEN: Answer = {
  status: 500,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('500 Internal Server Error\n\nServer got itself in trouble'),
};

type Body = {
  readonly prompt?: Graph;
  readonly prompt_id?: string;
  readonly client_id?: string;
  readonly number?: number;
  readonly front?: boolean;
  readonly extra_data?: object;
  readonly clear?: boolean;
  readonly delete?: readonly string[];
};

const bodyOf = ({ body }: Request): Body => parseExactly(body.toString()) as Body;

function postPrompt({ process, classes, ...stock }: Server, body: Body): Answer {
  const own = body.number ?? process.queue.nextNumber();
  const number = body.number === undefined && body.front ? -own : own;
  const { prompt, prompt_id = randomUUID(), client_id, extra_data } = body;
  if (!prompt) {
    const message = 'No prompt provided';
    const error = { type: 'no_prompt', message, details: message, extra_info: {} };
    return json({ error, node_errors: {} }, 400);
  }
  const verdict = validate(prompt, classes, stock);
  if (verdict.error) return json(verdict, 400);
  const extra = { ...extra_data, ...(client_id !== undefined && { client_id }) };
  if (!process.put([number, prompt_id, prompt, extra, verdict.outputs])) return BROKEN;
  return json({ prompt_id, number, node_errors: verdict.node_errors });
}

async function uploadImage({ files }: Server, { body, type }: Request): Promise<Answer> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const image = form.get('image');
  const field = (name: string): string => {
    const value = form.get(name);
    return typeof value === 'string' ? value : '';
  };
  if (!(image instanceof File) || image.name === '') return { status: 400 };
  const overwrites = ['true', '1'].includes(field('overwrite'));
  const kept = files.upload(
    image.name,
    field('subfolder'),
    Buffer.from(await image.arrayBuffer()),
    overwrites,
  );
  return kept ? json(kept) : { status: 400 };
}

function stats(device: string): object {
  const memory = { vram_total: 25e9, vram_free: 24e9, torch_vram_total: 0, torch_vram_free: 0 };
  return {
    system: {
      os: 'posix',
      ram_total: 64e9,
      ram_free: 32e9,
      comfyui_version: '0.3.64',
      required_frontend_version: '1.27.10',
      installed_templates_version: '0.1.95',
      required_templates_version: '0.1.95',
      python_version: '3.11.7',
      pytorch_version: '2.9.0',
      embedded_python: false,
      argv: ['main.py'],
    },
    devices: [{ name: device, type: device === 'cpu' ? 'cpu' : 'cuda', index: null, ...memory }],
  };
}

function json(value: object, status = 200): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: Buffer.from(JSON.stringify(value)) };
}
