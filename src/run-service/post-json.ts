// POSTs JSON to an address that a user named for notifications. The same networks are allowed as for files: public ones, and
// those of the run service.

import { request } from 'undici';
import { FileFault } from './file-faults.ts';
import { guardFor } from './networks.ts';
import { openFileTransport, openTransport } from './transport.ts';

export type JsonPost = {
  readonly url: string;
  readonly signal: AbortSignal;
  /** The run service; undefined: every address is allowed. */
  readonly within: string | undefined;
};

const SILENCE = { headersMs: 10_000, idleMs: 10_000 };

/** `refused`: why the address is not allowed. Follows no redirect. Throws if there is no answer. */
export async function postJson(
  { url, signal, within }: JsonPost,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly refused?: string }> {
  const guard = within === undefined ? undefined : guardFor(within, 'the address');
  const dispatcher = guard === undefined ? openTransport(1) : openFileTransport(1, guard.lookup, SILENCE);
  try {
    await guard?.admit(new URL(url));
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SILENCE.headersMs)]),
      headers: { 'content-type': 'application/json', 'user-agent': 'runsheet', ...headers },
      body,
    });
    await answer.body.dump();
    return { status: answer.statusCode };
  } catch (error) {
    if (error instanceof FileFault) return { status: 0, refused: error.message };
    throw error;
  } finally {
    await dispatcher.close();
  }
}
