// Run services that answer otherwise than one should.

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

export type OtherServices = { readonly at: (name: string) => string; readonly close: () => void };

export async function openOtherServices(): Promise<OtherServices> {
  const { url, close } = await serve((request, response) => {
    const [, name = '', path = ''] = /^\/([\w-]+)\/api(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const answers = SERVICES[name];
    const body = path.startsWith('/run/') ? NOT_A_RUN : answers?.[path];
    response.statusCode =
      answers === undefined ? 200 : path.startsWith('/run/') ? 422 : body === undefined ? 404 : 200;
    const text = answers === undefined ? '<h1>Another program</h1>' : (body ?? { detail: 'Not Found' });
    response.end(typeof text === 'string' ? text : JSON.stringify(text));
  });
  return { at: (name) => `${url}/${name}/api`, close };
}
