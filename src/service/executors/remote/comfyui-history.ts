// An entry of ComfyUI's history: how a run has ended.

import { z } from 'zod';
import { shortened } from '../../../errors/outside-text.ts';
import type { End, FileRef, Made } from './backend.ts';

const entrySchema = z.object({
  outputs: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  status: z
    .object({
      status_str: z.string().default(''),
      messages: z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())])).default([]),
    })
    .nullish(),
});
export const historySchema = z.record(z.string(), z.unknown());

/** Of the text of an error; its node follows. */
const REASON_MOST = 1_500;
/** What a clock that was set back or forward makes of a run is no time. */
const RAN_MOST_MS = 30 * 86_400_000;

/** A run has succeeded if its status and its messages say so: one that failed while it was set up keeps the status of the run before it. */
export function endOf(given: unknown): End {
  const entry = entrySchema.safeParse(given);
  // It must not keep its server from being looked at.
  if (!entry.success)
    return { status: 'failed', ranMs: 0, reason: 'ComfyUI has an entry in its history that cannot be read' };
  const { status, outputs } = entry.data;
  const messages = new Map(status?.messages ?? []);
  const ranMs = ranMsOf(messages);
  const error = messages.get('execution_error');
  if (error !== undefined) return { status: 'failed', ranMs, reason: reasonOf(error) };
  if (messages.has('execution_interrupted')) return { status: 'interrupted', ranMs };
  if (status?.status_str === 'success' && messages.has('execution_success'))
    return {
      status: 'success',
      ranMs,
      made: Object.entries(outputs).flatMap(([node, one]) => madeBy(node, one)),
    };
  return { status: 'failed', ranMs, reason: 'ComfyUI ended it without a success and without an error' };
}

/** The difference of its own times, because its clock is not ours. */
function ranMsOf(messages: ReadonlyMap<string, Readonly<Record<string, unknown>>>): number {
  const at = (name: string): number => Number(messages.get(name)?.['timestamp']);
  const end = ['execution_success', 'execution_error', 'execution_interrupted'].map(at).find(Number.isFinite);
  const ranMs = (end ?? Number.NaN) - at('execution_start');
  return Number.isFinite(ranMs) ? Math.min(Math.max(0, Math.round(ranMs)), RAN_MOST_MS) : 0;
}

/** `torch.OutOfMemoryError: …  (node 3, KSampler)`: clients find the kind of the failure by its type. */
function reasonOf(error: Readonly<Record<string, unknown>>): string {
  const text = (name: string): string => (typeof error[name] === 'string' ? error[name] : '');
  const what = [text('exception_type'), text('exception_message').trim()].filter(Boolean).join(': ');
  return `${shortened(what, REASON_MOST)} (node ${text('node_id')}, ${text('node_type')})`;
}

const fileSchema = z.object({
  filename: z.string().min(1),
  subfolder: z.string().default(''),
  type: z.string().default('output'),
});

/** Any list of files is an output, whatever its name; a preview is none. */
export function madeBy(node: string, output: Readonly<Record<string, unknown>>): readonly Made[] {
  return Object.entries(output).flatMap(([key, value]) => {
    // Nodes that show several texts give a list of lists.
    const items = [value].flat(2) as readonly unknown[];
    const files: readonly FileRef[] = items.flatMap((item) => {
      const file = fileSchema.safeParse(item);
      return file.success && file.data.type === 'output' ? [file.data] : [];
    });
    const texts = items.filter((item) => typeof item === 'string');
    return files.length + texts.length === 0 ? [] : [{ node, key, files, texts }];
  });
}
