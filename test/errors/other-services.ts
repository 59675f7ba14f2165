// Run services that answer otherwise than one should.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority, openTls } from '../stage/proxy.ts';
import { serve } from '../stage/serve.ts';

const DEPLOYMENT = { id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'portraits', workflow_id: 'w' };
const NOT_A_RUN = { detail: [{ loc: ['path', 'run_id'], msg: 'not a uuid', type: 'uuid_parsing' }] };

/** Each answers under a path of its own, so that one server is all of them. */
const SERVICES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  listless: {},
  garbage: { '/deployments': '<h1>Welcome</h1>' },
  'no-limit': { '/deployments': [{ ...DEPLOYMENT, concurrency_limit: -5 }] },
  'no-time': { '/deployments': [{ ...DEPLOYMENT, run_timeout: 0 }] },
  unbounded: { '/deployments': [DEPLOYMENT] },
  twofold: { '/deployments': [DEPLOYMENT, { ...DEPLOYMENT, id: DEPLOYMENT.id.replace('0', '1') }] },
  empty: { '/deployments': [] },
};

export type OtherServices = {
  readonly at: (name: string) => string;
  /** The address of what answers instead of a ComfyUI. */
  readonly gpu: (name: keyof typeof GPUS) => string;
  /** The same server over TLS, whose certificate nobody has signed; its address may be written with http. */
  readonly secured: string;
  readonly close: () => void;
};

type ForeignAnswer = { readonly status: number; readonly body: string; readonly location?: string };
const GPUS = {
  'wants-login': { status: 401, body: 'Unauthorized' },
  forbids: { status: 403, body: 'Forbidden' },
  'sign-in-page': { status: 200, body: '<!doctype html><title>Sign in</title>' },
  'sends-elsewhere': { status: 302, body: '', location: 'https://login.example/' },
  'is-an-api': {
    status: 401,
    body: '{"error": {"code": "unauthorized", "message": "no key", "details": {}}}',
  },
} satisfies Readonly<Record<string, ForeignAnswer>>;

export async function openOtherServices(): Promise<OtherServices> {
  const { url, port, close } = await serve((request, response) => {
    const [, gpu = ''] = /^\/gpus\/([\w-]+)\//.exec(request.url ?? '') ?? [];
    const instead = (GPUS as Readonly<Record<string, ForeignAnswer>>)[gpu];
    if (instead !== undefined) {
      response.writeHead(
        instead.status,
        instead.location === undefined ? {} : { location: instead.location },
      );
      return void response.end(instead.body);
    }
    const [, name = '', path = ''] = /^\/([\w-]+)\/api(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const answers = SERVICES[name];
    const body = path.startsWith('/run/') ? NOT_A_RUN : answers?.[path];
    response.statusCode =
      answers === undefined ? 200 : path.startsWith('/run/') ? 422 : body === undefined ? 404 : 200;
    const text = answers === undefined ? '<h1>Another program</h1>' : (body ?? { detail: 'Not Found' });
    response.end(typeof text === 'string' ? text : JSON.stringify(text));
  });
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  const secured = await openTls(makeAuthority(folder, 'localhost'), port);
  rmSync(folder, { recursive: true });
  return {
    at: (name) => `${url}/${name}/api`,
    gpu: (name) => `${url}/gpus/${name}`,
    secured: `https://localhost:${secured.port}`,
    close: () => {
      close();
      secured.close();
    },
  };
}
