// Plays a script against a ComfyUI, real or stand-in, and keeps what it answers without what differs each time.

import { setTimeout as wait } from 'node:timers/promises';
import { integerFrom, isRawNumber, parseExactly } from '../../src/host/formats/exact-json.ts';
import { colourOf } from './image-files.ts';

/** `$` in a text is a name that no other play has. */
export type Step =
  | { readonly ask: string; readonly body?: unknown }
  | { readonly upload: Readonly<Record<string, string>> }
  /** Waits until a prompt is in one of these places. */
  | { readonly until: 'running' | 'ended'; readonly id: string }
  | { readonly connect: string; readonly as: string }
  | { readonly close: string }
  /** The events that a socket heard since the last time, or only their kinds; status and progress depend on timing. */
  | { readonly heard: string; readonly only?: 'kinds' };

type Sockets = Map<string, { readonly socket: WebSocket; readonly events: Event[] }>;
type Event = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The answers of all steps that have one. */
export async function play(script: readonly Step[], url: string): Promise<unknown[]> {
  const sockets: Sockets = new Map();
  const unique = `play-${Date.now().toString(36)}`;
  const answers: unknown[] = [];
  await ask(url, 'POST /queue', { clear: true });
  await ask(url, 'POST /interrupt', {});
  while (JSON.stringify((await ask(url, 'GET /prompt')).body) !== '{"exec_info":{"queue_remaining":0}}')
    await wait(20);
  await ask(url, 'POST /history', { clear: true });
  try {
    for (const step of script) {
      const own = parseExactly(JSON.stringify(step).replaceAll('$', unique)) as Step;
      const answer = await take(own, url, sockets);
      if (answer !== undefined)
        answers.push(JSON.parse(JSON.stringify(plain(answer)).replaceAll(unique, '$')));
    }
  } finally {
    for (const { socket } of sockets.values()) socket.close();
  }
  return answers;
}

async function take(step: Step, url: string, sockets: Sockets): Promise<unknown> {
  if ('ask' in step) return { ask: step.ask, ...(await ask(url, step.ask, step.body)) };
  if ('upload' in step) return { upload: step.upload, ...(await upload(url, step.upload)) };
  if ('until' in step) return reached(url, step.until, step.id);
  if ('connect' in step) return connect(url, step.connect, step.as, sockets);
  if ('close' in step) return close(step.close, sockets);
  // Whatever was sent by now arrives before the answer to a question.
  await wait(100);
  const events = sockets.get(step.heard)?.events.splice(0) ?? [];
  if (step.only) return { heard: step.heard, kinds: [...new Set(events.map(({ type }) => type))].toSorted() };
  return {
    heard: step.heard,
    events: events.filter(({ type }) => type !== 'status' && !type.startsWith('progress')),
  };
}

async function ask(url: string, what: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const [method = '', path = ''] = what.split(' ');
  const response = await fetch(
    url + path,
    body === undefined ? { method } : { method, body: JSON.stringify(body), headers: JSON_TYPE },
  );
  return answerOf(response);
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function answerOf(response: Response): Promise<{ status: number; body: unknown }> {
  const { status, headers } = response;
  const type = headers.get('content-type')?.split(';')[0];
  const bytes = Buffer.from(await response.arrayBuffer());
  if (status >= 400 && type !== 'application/json') return { status, body: '' };
  if (bytes.length === 0) return { status, body: headers.get('content-length') === '0' ? '' : type };
  if (type === 'image/png')
    return { status, body: { type, name: headers.get('content-disposition'), colour: colourOf(bytes) } };
  return { status, body: type === 'application/json' ? parseExactly(bytes.toString()) : bytes.toString() };
}

async function upload(
  url: string,
  { name = '', bytes = '', ...fields }: Readonly<Record<string, string>>,
): Promise<object> {
  const form = new FormData();
  form.set('image', new File([Buffer.from(bytes, 'base64')], name, { type: 'image/png' }));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return answerOf(await fetch(`${url}/upload/image`, { method: 'POST', body: form }));
}

async function reached(url: string, place: 'running' | 'ended', id: string): Promise<undefined> {
  for (;;) {
    const { queue_running, queue_pending } = (await ask(url, 'GET /queue')).body as Record<
      string,
      [unknown, string][]
    >;
    const isIn = (items: [unknown, string][] = []): boolean => items.some((item) => item[1] === id);
    if (place === 'running' && isIn(queue_running)) break;
    if (place === 'ended' && !isIn(queue_running) && !isIn(queue_pending)) break;
    await wait(20);
  }
  // A prompt is running before its first node is.
  await wait(place === 'running' ? 150 : 0);
}

async function connect(url: string, name: string, client: string, sockets: Sockets): Promise<undefined> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?clientId=${client}`);
  const events: Event[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.addEventListener('message', ({ data }) => {
    events.push(parseExactly(String(data)) as Event);
    resolve();
  });
  sockets.set(name, { socket, events });
  await promise;
}

async function close(name: string, sockets: Sockets): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  sockets.get(name)?.socket.addEventListener('close', () => resolve());
  sockets.get(name)?.socket.close();
  await promise;
  await wait(50);
}

/** In any order: Python's sets. */
const SETS = new Set(['executed', 'current_outputs', 'dependent_outputs', 'errors']);
/** Fields that no client needs, or that only a real ComfyUI has. */
const LEFT_OUT = new Set([
  'tooltip',
  'timestamp',
  'traceback',
  'exception_message',
  'hidden',
  'sid',
  'extra_pnginfo',
]);
const DESCRIBED = new Set(['input', 'output', 'output_node', 'api_node', 'name']);

/** The value without times, numbers, traces and orders that differ each time. */
function plain(value: unknown, key = ''): unknown {
  if (isRawNumber(value)) return `${value.rawJSON}n`;
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return plainList(value, key);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(
    ([name]) =>
      (!LEFT_OUT.has(name) || key === 'inputs') &&
      !(key === 'current_inputs' && name === 'prompt') &&
      (!('output_node' in value) || DESCRIBED.has(name)),
  );
  const made = fields.map(([name, field]) => [name, name === 'number' ? 'n' : plain(field, name)] as const);
  return Object.fromEntries(made.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function plainList(list: readonly unknown[], key: string): unknown {
  const [number, , graph] = list;
  const isPrompt = list.length === 5 && typeof graph === 'object' && typeof number === 'number';
  if (isPrompt) return ['n', ...list.slice(1, 4).map((part) => plain(part)), plainSet(list[4] as unknown[])];
  if (key === 'queue_pending')
    return (list as [number][]).toSorted(([a], [b]) => a - b).map((item) => plain(item));
  return SETS.has(key) ? plainSet(list) : list.map((element) => plain(element));
}

const plainSet = (list: readonly unknown[]): unknown[] =>
  list.map((element) => plain(element)).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** The first line, without what Python says about itself. */
function plainText(words: string): string {
  const [line = ''] = words.split('\n');
  return line
    .replace(/^tensor\(.*/, 'tensor')
    .replace(/, (?:invalid literal|could not convert) .*/, '')
    .replace(/_temp_[a-z]{5}_/, '_temp_abcde_');
}

/** The largest seed of a sampler, which no JavaScript number is. */
export const LARGEST_SEED = integerFrom('18446744073709551615');
