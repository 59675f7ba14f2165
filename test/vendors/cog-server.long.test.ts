// Cog's own server, from PyPI: the same requests get the same answers as from the stand-in, and the run service drives it.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OwnService } from '../comfy/own-service.ts';
import { freePort } from '../stage/free-port.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { pythonWith } from '../stage/python.ts';
import { until } from '../stage/stage.ts';
import { openCog } from './cog.ts';
import { INPUT_SCHEMA } from './model-inputs.ts';

const { missing, program } = pythonWith('cog-server', { cog: 'cog==0.23.1' });

const PREDICTOR = `import os, tempfile, time
from cog import BaseRunner, Input, Path

class Runner(BaseRunner):
    def setup(self):
        if os.environ.get("SETUP") == "fails":
            raise RuntimeError("no weights")
        time.sleep(float(os.environ.get("SETUP", "0")))

    def run(self, prompt: str = Input(), seed: int = Input(default=0), steps: int = Input(default=28, ge=1, le=50),
            strength: float = Input(default=0.8), format: str = Input(default="png", choices=["png", "webp"]),
            image: Path = Input(default=None)) -> Path:
        with open("executed", "a") as log:
            log.write(prompt + "\\n")
        if prompt == "fails":
            raise ValueError("CUDA out of memory")
        words = prompt.split()
        for _ in range(int(words[1]) if words[0] == "slow" else 0):
            time.sleep(0.1)
        target = Path(tempfile.mkdtemp()) / "out.png"
        target.write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + prompt.encode())
        return target
`;

/** The schema that `cog build` writes into the image. */
const SCHEMA = {
  openapi: '3.0.2',
  info: { title: 'Cog', version: '0.1.0' },
  paths: {},
  components: {
    schemas: { Input: INPUT_SCHEMA, Output: { type: 'string', format: 'uri', title: 'Output' } },
  },
};

type Started = {
  readonly url: string;
  executed(): readonly string[];
  kill(): void;
  again(): Promise<Started>;
};

/** A container without a container. */
async function startCog(
  setup = '0',
  { folder, port } = { folder: freshFolder(), port: 0 },
): Promise<Started> {
  writeFileSync(join(folder, 'predict.py'), PREDICTOR);
  mkdirSync(join(folder, '.cog'), { recursive: true });
  writeFileSync(join(folder, '.cog', 'openapi_schema.json'), JSON.stringify(SCHEMA));
  const at = port || (await freePort());
  const child = spawn(program, ['-m', 'cog.server.http', '--host', '127.0.0.1'], {
    cwd: folder,
    env: {
      // The server starts its worker as `python`.
      PATH: [dirname(program), process.env['PATH']].join(delimiter),
      PORT: String(at),
      SETUP: setup,
      COG_PREDICT_TYPE_STUB: 'predict.py:Runner',
    },
    stdio: 'ignore',
  });
  const kill = (): void => void child.kill('SIGKILL');
  onTestFinished(kill);
  const url = `http://127.0.0.1:${at}`;
  await until(
    async () => (await fetch(`${url}/health-check`).catch(() => undefined))?.ok === true,
    'Cog answers',
  );
  const log = join(folder, 'executed');
  const executed = (): readonly string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return { url, executed, kill, again: () => startCog(setup, { folder, port: at }) };
}

const healthOf = async (url: string): Promise<string> =>
  ((await (await fetch(`${url}/health-check`)).json()) as { readonly status: string }).status;

async function readyCog(): Promise<Started> {
  const cog = await startCog();
  await until(async () => (await healthOf(cog.url)) === 'READY', 'Cog is ready');
  return cog;
}

const SLOW = 'slow 20';

/** Requests one after another, and what a client may rely on in their answers. `slowly`: from now on a prediction takes two seconds. */
async function answersOf(url: string, { fails = () => {}, slowly = () => {} } = {}) {
  const ask = async (path: string, method = 'GET', body?: object, more = {}) => {
    const headers = { 'content-type': 'application/json', ...more };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
    return { status: response.status, json };
  };
  const put = async (id: string, input: unknown, more = {}) => {
    const { status, json } = await ask(`/predictions/${id}`, 'PUT', { input }, more);
    return [
      status,
      json['status'],
      Object.keys(json).toSorted(),
      JSON.stringify(json['output'])?.slice(0, 22),
    ];
  };
  const seen: unknown[] = [];
  seen.push(await healthOf(url));
  const document = (await ask('/openapi.json')).json as {
    components: { schemas: { Input: { properties: object } } };
  };
  seen.push(Object.keys(document.components.schemas.Input.properties).toSorted());
  seen.push(await put('fast', { prompt: 'a fox' }));
  seen.push((await put('wrong', { prompt: 'a fox', steps: 99 })).slice(0, 1));
  seen.push((await put('lacking', {})).slice(0, 1));
  seen.push((await put('question', 5)).slice(0, 1));
  fails();
  seen.push(await put('failing', { prompt: 'fails' }));
  slowly();
  const later = { prefer: 'respond-async' };
  seen.push(await put('slow', { prompt: SLOW }, later));
  seen.push(await healthOf(url));
  seen.push(await put('slow', { prompt: SLOW }), await put('slow', 5));
  seen.push(await put('other', { prompt: 'a fox' }));
  seen.push((await ask('/predictions/slow')).status);
  seen.push((await ask('/predictions/slow/cancel', 'POST', {})).status);
  seen.push((await ask('/predictions/nothing/cancel', 'POST', {})).status);
  const free = (): Promise<void> => until(async () => (await healthOf(url)) === 'READY', 'it is free again');
  await free();
  const body = JSON.stringify({ input: { prompt: SLOW } });
  const leaving = { method: 'PUT', body, headers: { 'content-type': 'application/json' } };
  const began = Date.now();
  await fetch(`${url}/predictions/left`, { ...leaving, signal: AbortSignal.timeout(300) }).catch(
    () => undefined,
  );
  seen.push(await healthOf(url).then((health) => health !== 'STARTING'));
  await free();
  seen.push(Date.now() - began < 1_800 ? 'cancelled' : 'went on');
  return seen;
}

describe.skipIf(missing !== undefined)(`the server of Cog (missing: ${missing ?? 'nothing'})`, () => {
  it('answers like the stand-in', async () => {
    const real = await readyCog();
    const standIn = await openCog();
    onTestFinished(() => standIn.close());
    const shown = await answersOf(standIn.url, {
      fails: () => standIn.failNext(1, 'CUDA out of memory'),
      slowly: () => standIn.setDuration(2_000),
    });
    expect(await answersOf(real.url)).toEqual(shown);
  });

  const TIMING = { pollOnlyMs: 50, lateMs: 60, startingMs: 100 };
  async function driven(cog: Started) {
    const own = await OwnService.of([], undefined, TIMING);
    await own.addAny({
      servers: [{ url: cog.url, kind: 'cog' }],
      models: [{ vendor: 'cog', model: cog.url, name: 'painter' }],
    });
    return own;
  }

  it('executes each run once, refuses what its schema refuses, and its files are kept', async () => {
    const cog = await readyCog();
    const own = await driven(cog);
    const prompts = Array.from({ length: 8 }, (_, at) => `fox ${at}`);
    const ids = await Promise.all(prompts.map((prompt) => own.queue({ prompt })));
    for (const [at, id] of ids.entries()) {
      const run = await own.until(id);
      expect(run.status).toBe('success');
      const [file] = Object.values(run.outputs[0]?.data ?? {}).flat();
      const answer = await fetch(file?.url ?? '', { headers: { authorization: 'Bearer key' } });
      expect(await answer.text()).toContain(`fox ${at}`);
    }
    expect(cog.executed().toSorted()).toEqual(prompts);
    const failed = await own.queue({ prompt: 'fails' });
    expect((await own.until(failed)).status).toBe('failed');
    expect(await own.log(failed)).toContain('ValueError: CUDA out of memory');
    const { json } = await own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: { prompt: 'fox', steps: 99 },
    });
    expect(JSON.stringify(json)).toContain('from 1 to 50');
  });

  it('cancels a run, executes another again after a restart of the service, and one whose container was killed', async () => {
    const cog = await readyCog();
    const own = await driven(cog);
    const running = async (id: string): Promise<void> =>
      until(async () => (await own.run(id)).status === 'running', 'it executes');
    const cancelled = await own.queue({ prompt: 'slow 600' });
    await running(cancelled);
    await own.ask('POST', `/run/${cancelled}/cancel`);
    await until(async () => (await healthOf(cog.url)) === 'READY', 'it is cancelled there');
    const again = await own.queue({ prompt: 'slow 30' });
    await running(again);
    await own.close();
    await own.open();
    expect(await own.until(again)).toMatchObject({ status: 'success', lost_executions: 1 });
    expect(cog.executed()).toEqual(['slow 600', 'slow 30', 'slow 30']);
    const lost = await own.queue({ prompt: 'slow 20' });
    await running(lost);
    cog.kill();
    await cog.again();
    expect(await own.until(lost)).toMatchObject({ status: 'success', lost_executions: 1 });
    expect(cog.executed().slice(3)).toEqual(['slow 20', 'slow 20']);
  });

  it('is waited for while its setup() runs, and shows why that failed', async () => {
    const own = await driven(await readyCog());
    const slow = await startCog('3');
    expect(await healthOf(slow.url)).toBe('STARTING');
    await expect(
      own.addAny({
        servers: [{ url: slow.url, kind: 'cog' }],
        models: [{ vendor: 'cog', model: slow.url, name: 'slow' }],
      }),
    ).rejects.toThrow('it still starts');
    const broken = await startCog('fails');
    await until(async () => (await healthOf(broken.url)) === 'SETUP_FAILED', 'it has failed');
    await own.addAny({
      servers: [{ url: broken.url, kind: 'cog' }],
      models: [{ vendor: 'cog', model: broken.url, name: 'broken' }],
    });
    const id = await own.queue({ prompt: 'fox' });
    await until(
      async () => (await own.run(id)).live_status?.includes('setup() failed') === true,
      'it is said',
    );
    expect((await own.run(id)).live_status).toContain('no weights');
  });
});
