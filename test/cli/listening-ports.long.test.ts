// A page of another site can send requests to every port of the user's machine, also under its own name (DNS rebinding). The
// ports are those on which the processes really listen, so that a new one is found.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { familyOf } from '../stage/processes.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const LISTENING = '0A';

/** Maps the inode of each listening socket to its address. */
function listeners(): ReadonlyMap<string, { readonly host: string; readonly port: number }> {
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return new Map(
    lines.flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [host = '', port = ''] = local.split(':');
      const bytes = host.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
      const address = { host: bytes.toReversed().join('.'), port: Number.parseInt(port, 16) };
      return state === LISTENING ? [[inode, address] as const] : [];
    }),
  );
}

function portsOf(pids: readonly number[]) {
  const addresses = listeners();
  return pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      const address = inode === undefined ? undefined : addresses.get(inode);
      return address === undefined
        ? []
        : [{ ...address, program: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() }];
    }),
  );
}

const PATHS = ['/', '/metrics', '/api/v1/namespaces'];

/** The kinds of answer that a port gives to requests with these headers, each once, without 404. */
async function answersOf(at: { host: string; port: number }, headers: readonly string[]): Promise<string> {
  const kinds = await Promise.all(PATHS.map(async (path) => kindOf(await answerOf(at, path, headers))));
  return [...new Set(kinds)].filter((kind) => kind !== '404').join(' ');
}

/** Empty if the port closes the connection, as gRPC does. */
async function answerOf(at: { host: string; port: number }, path: string, headers: readonly string[]) {
  const socket = connect(at.port, at.host);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.setTimeout(3_000, () => socket.destroy());
  socket.write([`GET ${path} HTTP/1.1`, ...headers, 'connection: close', '', ''].join('\r\n'));
  await new Promise((closed) => socket.once('close', closed));
  return text;
}

function kindOf(text: string): string {
  const status = /^HTTP\/1\.[01] (\d+)/.exec(text)?.[1];
  if (status === undefined) return 'closed';
  return status === '200' && text.includes('# HELP ') ? 'metrics' : status;
}

/** Temporal's metrics cannot be turned off: counts, and the names of kinds of calls. */
const METRICS = 'metrics';
const EXPECTED = expect.stringMatching(/^(?:403|closed|metrics)$/);

describe.runIf(process.platform === 'linux')('while a batch runs', () => {
  const stage = sharedStage();
  let ports: ReturnType<typeof portsOf> = [];

  beforeAll(async () => {
    await stage.start(['dev']).says(/live page +http/);
    const run = stage.start(['run', stage.sheet(200), '-d', 'portraits', '--local', '-c', '1']);
    await run.says(/done=[1-9]/);
    const page = stage.start(['open', '--no-open']);
    await page.says(/http:\/\/127\.0\.0\.1/);
    const stack = readRecord(stage.path('.runsheet'))?.pid;
    ports = portsOf([...familyOf(stack), ...familyOf(page.child.pid)]);
  });

  it('no port of the embedded servers answers a page of another site', async () => {
    const own = ports.map(({ port }) => `127.0.0.1:${port}`);
    const probes = ports.map(async (at, index) => ({
      ...at,
      foreignHost: await answersOf(at, ['host: evil.example']),
      foreignOrigin: await answersOf(at, [`host: ${own[index]}`, 'origin: http://evil.example']),
    }));
    const answers = await Promise.all(probes);
    for (const answer of answers)
      expect(answer).toEqual({
        ...answer,
        host: '127.0.0.1',
        foreignHost: EXPECTED,
        foreignOrigin: EXPECTED,
      });
    const open = answers.filter(({ foreignHost }) => foreignHost === METRICS);
    expect(open.length).toBe(1);
    const shown = await Promise.all(open.map((at) => answerOf(at, '/metrics', ['host: evil.example'])));
    // The text comes in chunks, each preceded by its length.
    const text = shown.join('').replaceAll(/\r\n[\da-f]+\r\n/g, '');
    const queues = new Set(text.match(/\btaskqueue="[^"]*"/g));
    expect([...queues]).toEqual(['taskqueue="__omitted__"']);
    // Temporal's HTTP API, the webhook receiver, the local run service, and the page of the batch.
    expect(answers.filter(({ foreignHost }) => foreignHost === '403').length).toBe(4);
  });
});
