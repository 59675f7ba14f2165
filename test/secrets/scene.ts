// Runs a batch through all kinds of faults, with planted secrets wherever a user provides them.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { deploymentsOf, Stage, until, type Running } from '../stage/stage.ts';
import { Evidence } from './evidence.ts';
import { listen } from '../stage/free-port.ts';

const ROWS = 60;
const QUOTED_EVERY = 17;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 10, runSeconds: 0.4 });
export const FAULTS = ['fail=0.1', 'drop-answer=0.04', 'error-answer=0.04', 'busy=0.04', 'lose-webhook=0.1'];
/** Only one batch has missing files, because it retries each of them for almost a minute. */
export const LOST_FILES = ['lose-file=0.05'];

type Secrets = Readonly<Record<string, string>>;

const planted = (name: string): string =>
  `planted+${name}/with=odd&letters-${randomBytes(8).toString('hex')}`;

/** A stage with a run service that accepts both keys and injects faults, behind a gateway that quotes requests. */
export class Scene {
  readonly stage = new Stage();
  readonly evidence = new Evidence();
  readonly secrets = { key: planted('key'), newKey: planted('new-key'), webhook: planted('webhook') };
  gateway: QuotingGateway | undefined;
  /** The base URL of the run service without the gateway. */
  service = '';

  async open(faults: readonly string[]): Promise<void> {
    const { stage, secrets } = this;
    const args = ['--deployments', stage.write('deployments.json', DEPLOYMENTS), '--behaviour', 'vendor'];
    const debug = { RUNSHEET_LOG_LEVEL: 'debug' };
    stage.environment = debug;
    const rates = faults.flatMap((fault) => ['--fault', fault]);
    const service = await stage.service([...args, ...rates], 0, [secrets.key, secrets.newKey]);
    this.hear(service, 'service');
    this.service = service.base;
    this.gateway = await openQuotingGateway(service.base, QUOTED_EVERY);
    stage.environment = { ...debug, RUNSHEET_API_URL: this.gateway.base };
  }

  set(environment: Readonly<Record<string, string>>): void {
    this.stage.environment = { ...this.stage.environment, ...environment };
  }

  hear(running: Running, name: string): Running {
    void running.ended.then(({ stdout, stderr }) =>
      this.evidence.add(`output of ${name}`, `${stdout}\n${stderr}`),
    );
    return running;
  }

  /** Starts a command; its arguments are separated by single spaces. */
  start(line: string): Running {
    return this.hear(this.stage.start(line.split(' ')), line);
  }

  /** Resolves when the service has accepted this number of runs. */
  bought(runs: number): Promise<void> {
    return until(async () => (await this.stage.truth(this.service)).length >= runs, `${runs} runs`);
  }

  async revoke(key: string): Promise<void> {
    const control = new URL(`/control/tokens/${encodeURIComponent(key)}/revoke`, this.service);
    const headers = { authorization: `Bearer ${this.secrets.newKey}` };
    const { status } = await fetch(control, { method: 'POST', headers });
    if (status !== 200) throw new Error(`the key was not revoked: ${status}`);
  }

  async close(): Promise<void> {
    this.gateway?.close();
    await this.stage.close();
  }
}

/** Writes a sheet in which the service refuses some rows. */
function sheetOf({ stage }: Scene): string {
  const lines = Array.from({ length: ROWS }, (_, at) =>
    JSON.stringify({ prompt: `portrait ${at + 1}`, style: at % 20 === 7 ? { deep: [at] } : 'plain' }),
  );
  return stage.write('sheet.jsonl', `${lines.join('\n')}\n`);
}

/** Runs some rows with the first key, revokes it, and finishes the batch with the second; `give` sets the key. */
export async function runBatch(scene: Scene, give: (key: string) => void): Promise<void> {
  const { evidence, secrets } = scene;
  const run = `run ${sheetOf(scene)} -d portraits -c 10 --retries 0 --type style=json`;
  give(secrets.key);
  const first = scene.start(run);
  await scene.bought(20);
  evidence.addProcesses();
  await scene.revoke(secrets.key);
  const { code, stderr } = await first.ended;
  expect([code, stderr]).toEqual([8, expect.stringContaining('Revoked token')]);
  await scene.start('status -o json').ended;
  expect((await scene.start('doctor').ended).stdout).toContain('Revoked token');

  give(secrets.newKey);
  const second = scene.start(`${run} -o json`);
  await scene.bought(35);
  evidence.addProcesses();
  await scene.start('status').ended;
  expect((await second.ended).code).toBe(3);
}

const QUERIES = ['list', 'status -o json', 'rows -o csv', 'rows -o jsonl', 'results', 'show NAME 1'];
const MISTAKES = ['status nothing', 'run nowhere.csv -d portraits', 'show nothing 1 -o json'];
const QUOTED = ['doctor', 'plan sheet.jsonl -d portraits', 'plan sheet.jsonl -d portraits -o json'];

/** Runs every query about a batch, and commands with all kinds of errors, some of which would quote the key. */
export async function askEverything(scene: Scene): Promise<void> {
  const name = scene.stage.batch().split('/').at(-1) ?? '';
  for (const line of QUERIES) expect((await scene.start(line.replace('NAME', name)).ended).code).toBe(0);
  for (const line of MISTAKES) expect((await scene.start(line).ended).code).not.toBe(0);
  if (scene.gateway) scene.gateway.quotesAll = true;
  for (const line of QUOTED) {
    const { stdout, stderr } = await scene.start(line).ended;
    expect(`${stdout}${stderr}`).toContain('[secret]');
  }
}

/** Fails if a secret is found outside the files that may contain it, or if there was too little to search. */
export async function expectNothingFound(
  scene: Scene,
  secrets: Secrets,
  mayHold: readonly string[],
): Promise<void> {
  const { stage, evidence, gateway } = scene;
  const { leaks, files } = evidence.search(secrets, stage.folder, mayHold);
  expect(leaks).toEqual([]);
  expect(files).toBeGreaterThan(ROWS / 2);
  for (const [text, least] of [
    ['output of', 15],
    ['process', 40],
    ['history', 2],
    ['description', 1],
  ] as const)
    expect([text, evidence.count(text) >= least]).toEqual([text, true]);
  expect(gateway?.quoted).toBeGreaterThan(5);
  const outcomes = stage.results().map(({ outcome }) => outcome);
  expect(outcomes).toHaveLength(ROWS);
  expect(outcomes).toEqual(expect.arrayContaining(['succeeded', 'failed', 'refused']));
  await expectNoMacs(scene);
  expectPlantedLeaksFound(scene, secrets, mayHold);
}

async function expectNoMacs({ stage, evidence, service }: Scene): Promise<void> {
  const runs = (await stage.truth(service)).slice(0, 10);
  const macs = new Set(runs.map(({ webhook }) => readToken(webhook)?.mac ?? ''));
  expect(macs.size).toBe(10);
  const own = ['service.db', 'service.db-wal', 'service.db-shm'].map((name) => stage.path(name));
  const { leaks } = evidence.search(
    Object.fromEntries([...macs].map((mac) => [mac, mac])),
    stage.folder,
    own,
  );
  expect(leaks).toEqual([]);
}

/** Checks that the same search finds secrets that are planted on purpose. */
function expectPlantedLeaksFound(
  { stage, evidence }: Scene,
  secrets: Secrets,
  mayHold: readonly string[],
): void {
  for (const secret of Object.values(secrets)) {
    appendFileSync(
      join(stage.batch(), 'report.html'),
      Buffer.from(`Basic user:${secret}`).toString('base64'),
    );
    evidence.add('on purpose', encodeURIComponent(secret));
  }
  const { leaks } = evidence.search(secrets, stage.folder, mayHold);
  const places = leaks.map(
    ({ secret, where }) => `${secret} ${where.endsWith('report.html') ? 'in the report' : 'in the output'}`,
  );
  const expected = Object.keys(secrets).flatMap((name) => [`${name} in the report`, `${name} in the output`]);
  expect([...new Set(places)].toSorted()).toEqual(expected.toSorted());
}

/**
 * A gateway in front of a run service that fails in the worst way: it responds to some calls with 502 and a page that quotes the whole
 * request (key, webhook, inputs) in several encodings, and does not forward them.
 */
export type QuotingGateway = {
  /** Replaces the base URL of the service. */
  readonly base: string;
  /** Quotes every call, not only a share of the Queue Run and Get Run calls. */
  quotesAll: boolean;
  /** How many calls it has quoted. */
  quoted: number;
  close(): void;
};

/** Queue Run, and Get Run with a valid run id. */
const RUN_CALL = /\/(queue|run\/[0-9a-f-]{36})$/;

async function openQuotingGateway(service: string, quoteEvery: number): Promise<QuotingGateway> {
  const { origin, pathname } = new URL(service);
  let calls = 0;

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    calls += Number(RUN_CALL.test(incoming.url ?? ''));
    const isTurn = RUN_CALL.test(incoming.url ?? '') && calls % quoteEvery === 0;
    if (gateway.quotesAll || isTurn) {
      gateway.quoted += 1;
      const { authorization = '' } = incoming.headers;
      const key = authorization.replace('Bearer ', '');
      const forms = [
        Buffer.from(key).toString('base64'),
        encodeURIComponent(key),
        Buffer.from(key).toString('hex'),
      ];
      response.writeHead(502, { 'content-type': 'text/plain' });
      response.end(
        `Bad gateway: ${key} ${forms.join(' ')} ${authorization} ${body.toString().slice(0, 4_000)}`,
      );
      return;
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const answer = await fetch(`${origin}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      .end(bytes);
  };

  const server = createServer((incoming, response) => {
    // The service closed the connection, so the gateway closes the client's connection too.
    pass(incoming, response).catch(() => response.destroy());
  });
  const gateway: QuotingGateway = {
    base: `http://127.0.0.1:${await listen(server)}${pathname}`,
    quotesAll: false,
    quoted: 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return gateway;
}
