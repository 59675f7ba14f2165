// Uploads as a form, and what downloads cost a service that nobody reads.

import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { TOKEN } from './asking.ts';
import type { Process } from './service-process.ts';

export const MB = 2 ** 20;
export const EDGE = 'edge-of-the-form';
export const BEGIN = `--${EDGE}\r\ncontent-disposition: form-data; name="file"; filename="fox.png"\r\ncontent-type: image/png\r\n\r\n`;
export const END = `\r\n--${EDGE}--\r\n`;

export type Stored = { readonly status: number; readonly url: string; readonly detail: string };

/** Uploads `content` as a form. */
export async function upload(url: string, content: Uint8Array[], key = TOKEN): Promise<Stored> {
  const answer = await fetch(`${url}/api/file/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${EDGE}` },
    body: Readable.toWeb(Readable.from([Buffer.from(BEGIN), ...content, Buffer.from(END)])),
    duplex: 'half',
  });
  const body = (await answer.json()) as { readonly file_url?: string; readonly detail?: string };
  return { status: answer.status, url: body.file_url ?? '', detail: body.detail ?? '' };
}

/** Opens downloads of `url` without reading them: by how much the memory of the service grows, and its slowest answer meanwhile. */
export async function costOfUnread(
  { ask, pid }: Process,
  url: string,
  downloads: number,
): Promise<{ readonly moreMb: number; readonly slowestMs: number }> {
  const { hostname, port, pathname } = new URL(url);
  const beforeMb = residentMb(pid);
  for (let nth = 0; nth < downloads; nth += 1) {
    const socket = connect(Number(port), hostname, () =>
      socket.pause().write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`),
    );
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
  }
  let slowestMs = 0;
  let mostMb = 0;
  for (let nth = 0; nth < 20; nth += 1) {
    const startMs = performance.now();
    await ask('GET', '/api/platform/profile');
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    mostMb = Math.max(mostMb, residentMb(pid));
    await pause(50);
  }
  return { moreMb: mostMb - beforeMb, slowestMs };
}

/** The memory of a process. */
const residentMb = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
