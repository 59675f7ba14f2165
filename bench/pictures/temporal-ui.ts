// npm run pictures:temporal: runs batches on a server of their own, and records how Temporal's UI shows them. Needs Chromium.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { chromium } from 'playwright-core';
import { loadConfig } from '../../src/host/settings/config.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { choosePorts } from '../../src/temporal/embedded/ports.ts';
import { Stage, until } from '../../test/stage/stage.ts';

const PICTURES = join(import.meta.dirname, '../../docs/pictures');
/** No path of this machine appears in a picture. */
const OUT = '/srv/batches';
const DEPLOYMENTS = JSON.stringify([
  { name: 'landscapes', concurrencyLimit: 8, coldStartSeconds: 0, runSeconds: 0.2 },
  { name: 'rivers', concurrencyLimit: 8, coldStartSeconds: 0, runSeconds: 4 },
]);

/** The page of a running workflow never stops loading, so its text says when it is complete. */
const COMPLETE = /queueRuns|User Metadata|Workflows/;

/** Runs in the page: no name of this machine appears in a picture. */
const hideHost = (host: string): string => `{
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    node.nodeValue = node.nodeValue.replaceAll(${JSON.stringify(host)}, 'host');
}`;

const sheetOf = (name: string, rows: number, bad: readonly number[]): string =>
  [
    'prompt,gpu,runsheet_faults',
    ...Array.from(
      { length: rows },
      (_, at) => `${name} ${at + 1},${at % 4 === 3 ? 'H100' : 'A10G'},${bad.includes(at + 1) ? 'fail' : ''}`,
    ),
  ].join('\n');

const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
// The folder is deleted at the end, so it must be new: this throws if it exists.
mkdirSync(OUT);
const stage = new Stage();
const server = await startTemporal();
try {
  stage.environment = { TEMPORAL_ADDRESS: server.address, RUNSHEET_OUT: OUT };
  await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  await stage.start(['worker']).says(/webhooks at|no receiver/);
  const runs = await submit('rivers', 'rivers', 96, [3, 9]);
  await until(async () => (await stage.truth()).length >= 48, 'half of its rows were sent');
  await photograph(await pageOf(runs, 'user-metadata'), 'running', 720);
  await ended('coasts', 24, []);
  const bad = await ended('mountains', 16, [3, 9]);
  await photograph(await pageOf(bad, 'user-metadata'), 'details', 900);
  await photograph(server.page, 'list', 460);
} finally {
  await browser.close();
  await stage.close();
  server.child.kill('SIGKILL');
  rmSync(OUT, { recursive: true, force: true });
}

/** A server whose pages ask no codec server. */
async function startTemporal() {
  const { cache, environment } = loadConfig();
  const binary = await temporalBinary({ cache, environment, notice: () => undefined });
  const { temporal, service: ui } = await choosePorts(stage.folder);
  const ports = ['--port', String(temporal), '--ui-port', String(ui)];
  const child = spawn(binary, ['server', 'start-dev', '--ip', '127.0.0.1', ...ports], { stdio: 'ignore' });
  const address = `127.0.0.1:${temporal}`;
  await until(async () => {
    const connection = await Connection.connect({ address }).catch(() => undefined);
    return connection?.close().then(() => true) ?? false;
  }, 'Temporal answers');
  return { child, address, page: `http://127.0.0.1:${ui}/namespaces/default/workflows` };
}

async function submit(name: string, deployment: string, rows: number, bad: readonly number[]) {
  const sheet = stage.write(`${name}.csv`, sheetOf(name, rows, bad));
  const args = ['submit', sheet, '-d', deployment, '-c', '8', '--retries', '0', '--yes'];
  const { stdout, stderr } = await stage.run(args);
  if (stdout === '') throw new Error(stderr);
  return stdout.trim();
}

async function ended(name: string, rows: number, bad: readonly number[]): Promise<string> {
  const batch = await submit(name, 'landscapes', rows, bad);
  await stage.run(['wait', batch]);
  return batch;
}

async function pageOf(batch: string, tab: string): Promise<string> {
  const connection = await Connection.connect({ address: server.address });
  const { workflow } = new Client({ connection });
  for await (const { workflowId, runId } of workflow.list({ query: "WorkflowType = 'runsheetBatch'" }))
    if (workflowId.includes(batch)) {
      await connection.close();
      return `${server.page}/${encodeURIComponent(workflowId)}/${runId}/${tab}`;
    }
  throw new Error(`Temporal does not know ${batch}`);
}

async function photograph(url: string, name: string, height: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height } });
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  await page.getByText(COMPLETE).first().waitFor();
  // Waits for content that appears after the first text.
  await page.waitForTimeout(3_000);
  await page.evaluate(hideHost(hostname()));
  await page.screenshot({ path: join(PICTURES, `temporal-${name}.png`) });
  await page.close();
}
