// Collects everything that a batch writes and every output about it, so that it can be searched for secrets.

import { readFileSync, readdirSync } from 'node:fs';
import type { Payload } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { connectClient } from '../../src/temporal/connect.ts';
import { encryptionWith } from '../../src/temporal/encryption/codec.ts';
import type { PayloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { leaksBelow, leaksIn, type Leak } from './search.ts';

export class Evidence {
  readonly #pieces = new Map<string, Uint8Array | string>();

  add(name: string, piece: Uint8Array | string): void {
    this.#pieces.set(`${this.#pieces.size} ${name}`, piece);
  }

  /** How many pieces have this text in their name. */
  count(text: string): number {
    return [...this.#pieces.keys()].filter((name) => name.includes(text)).length;
  }

  /** Adds the command lines of all processes, which every user of the machine can read. */
  addProcesses(): void {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      for (const name of ['cmdline', 'comm']) {
        try {
          this.add(`process ${pid} ${name}`, readFileSync(`/proc/${pid}/${name}`));
        } catch {
          // The process has ended meanwhile.
        }
      }
    }
  }

  /**
   * Adds the history and description of every workflow of a namespace, as bytes and as Temporal's JSON, and decrypted
   * if there is a key. Returns the number of workflows.
   */
  async addWorkflows(
    address: string,
    namespace: string,
    keys: PayloadKeys = { keys: [], readsPlain: true, isComplete: false },
  ): Promise<number> {
    const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
    const { executions } = await client.workflowService.listWorkflowExecutions({ namespace });
    for (const { execution } of executions ?? []) {
      const handle = client.workflow.getHandle(execution?.workflowId ?? '', execution?.runId ?? '');
      const history = await handle.fetchHistory();
      this.add('history as bytes', proto.temporal.api.history.v1.History.encode(history).finish());
      this.add('history as JSON', historyToJSON(history));
      const raw = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution: execution ?? null,
      });
      const { DescribeWorkflowExecutionResponse: description } = proto.temporal.api.workflowservice.v1;
      this.add('description', description.encode(raw).finish());
      for (const payload of encryptedIn([history, raw])) {
        const [text] = await encryptionWith(keys).decode([payload]);
        this.add('decrypted', text?.data ?? '');
      }
    }
    await close();
    return executions?.length ?? 0;
  }

  /** Searches all pieces, and all files in a folder except those that may contain a secret. */
  search(
    secrets: Readonly<Record<string, string>>,
    folder: string,
    mayHold: readonly string[],
  ): { readonly leaks: readonly Leak[]; readonly files: number } {
    const below = leaksBelow(folder, secrets, mayHold);
    const leaks = [...this.#pieces].flatMap(([name, piece]) => leaksIn(piece, secrets, name));
    return { leaks: [...leaks, ...below.leaks], files: below.files };
  }
}

/** The encrypted payloads in a message of Temporal. */
function encryptedIn(message: unknown): readonly Payload[] {
  if (typeof message !== 'object' || message === null || message instanceof Uint8Array) return [];
  const { metadata } = message as Payload;
  if (Buffer.from(metadata?.['encoding'] ?? []).toString() === 'binary/encrypted') return [message];
  return Object.values(message).flatMap(encryptedIn);
}
