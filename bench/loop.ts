// What people write today: a loop with p-limit.

import { join } from 'node:path';
import pLimit from 'p-limit';
import { request } from 'undici';
import { byHand, type HandOrder } from './row.ts';
import { KEY } from './servers.ts';

const POLL_MS = 50;

export type LoopResult = { readonly rows: number; readonly seconds: number };

type LoopOrder = Omit<HandOrder, 'pollMs'> & { readonly rows: number };

export async function runLoop(order: LoopOrder): Promise<LoopResult> {
  const { rows } = order;
  const began = performance.now();
  await loopOver(
    Array.from({ length: rows }, (_, index) => index + 1),
    { ...order, folder: join(order.folder, 'loop'), pollMs: POLL_MS },
  );
  return { rows, seconds: (performance.now() - began) / 1000 };
}

export async function loopOver(rows: readonly number[], order: HandOrder): Promise<void> {
  const work = await byHand(order);
  const limit = pLimit(order.cap);
  await Promise.all(rows.map((row) => limit(() => work.row(row))));
  await work.close();
}

export async function deploymentIdOf(base: string, name: string): Promise<string> {
  const { body } = await request(`${base}/deployments`, { headers: { authorization: `Bearer ${KEY}` } });
  const deployments = (await body.json()) as { id: string; name: string }[];
  return deployments.find((one) => one.name === name)?.id ?? name;
}
