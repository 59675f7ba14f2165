// A real S3 server for tests: versitygw on a folder of its own, or the server that RUNSHEET_TEST_S3 names.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../stage/free-port.ts';

export type S3Server = AsyncDisposable & {
  readonly endpoint: string;
  /** The variables with which any program reaches it. */
  readonly environment: Readonly<Record<string, string>>;
};

const KEYS = { AWS_ACCESS_KEY_ID: 'runsheet-test', AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests-only' };

/** RUNSHEET_TEST_S3: the path of versitygw, or the address of a server whose keys are in AWS_ACCESS_KEY_ID and the like. */
export async function startS3(): Promise<S3Server> {
  const named = process.env['RUNSHEET_TEST_S3'];
  if (named?.startsWith('http')) {
    const keys = Object.entries(process.env).filter(([name]) => name.startsWith('AWS_'));
    const environment = Object.fromEntries(keys.map(([name, value]) => [name, value ?? '']));
    return {
      endpoint: named,
      environment: { ...environment, AWS_ENDPOINT_URL_S3: named },
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  return startVersity(named ?? versity());
}

async function startVersity(program: string): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-s3-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const port = await freePort();
  const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = KEYS;
  const args = ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, '--quiet'];
  // With keep-alive, as Amazon has it: otherwise each request needs a connection.
  const child = spawn(program, [...args, '--keep-alive', 'posix', data], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await wait(50);
  }
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    environment: { ...KEYS, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: 'us-east-1' },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** From the PATH, or built once with Go. */
function versity(): string {
  if (spawnSync('versitygw', ['--version']).status === 0) return 'versitygw';
  const bin = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runsheet', 'tests');
  const built = join(bin, 'versitygw');
  if (existsSync(built)) return built;
  mkdirSync(bin, { recursive: true });
  const made = spawnSync('go', ['install', 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'], {
    env: { ...process.env, GOBIN: bin },
    encoding: 'utf8',
  });
  if (made.status === 0) return built;
  throw new Error(
    `no S3 server: install versitygw or Go, or set RUNSHEET_TEST_S3 to the path of versitygw or the address of a server. ${made.stderr ?? ''}`,
  );
}

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), done(true)));
    socket.once('error', () => done(false));
  });
