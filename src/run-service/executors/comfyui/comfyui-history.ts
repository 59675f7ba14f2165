// Parses an entry of ComfyUI's history into the end of a run.

import { z } from 'zod';
import { shortened } from '../../../errors/outside-text.ts';
import type { RunEnd, FileRef, MadeOutput } from '../backend.ts';

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

/** The longest error text, without the node that follows it. */
const MAX_REASON = 1_500;
/** A longer duration is a clock that was changed during the run. */
const MAX_RAN_MS = 30 * 86_400_000;

/** A run succeeded if both its status and its messages say so: a run that fails during set-up keeps the status of the run before it. */
export function endOf(json: unknown): RunEnd {
  const entry = entrySchema.safeParse(json);
  // An unreadable entry must not keep its server from being polled.
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
      made: Object.entries(outputs).flatMap(([node, output]) => madeBy(node, output)),
    };
  return { status: 'failed', ranMs, reason: 'ComfyUI ended it without a success and without an error' };
}

/** The difference of ComfyUI's own timestamps, because its clock is not ours. */
function ranMsOf(messages: ReadonlyMap<string, Readonly<Record<string, unknown>>>): number {
  const at = (name: string): number => Number(messages.get(name)?.['timestamp']);
  const end = ['execution_success', 'execution_error', 'execution_interrupted'].map(at).find(Number.isFinite);
  const ranMs = (end ?? Number.NaN) - at('execution_start');
  return Number.isFinite(ranMs) ? Math.min(Math.max(0, Math.round(ranMs)), MAX_RAN_MS) : 0;
}

/** Formats `torch.OutOfMemoryError: … (node 3, KSampler)`; clients recognise the kind of failure by the type. */
function reasonOf(error: Readonly<Record<string, unknown>>): string {
  const text = (name: string): string => (typeof error[name] === 'string' ? error[name] : '');
  const what = [text('exception_type'), text('exception_message').trim()].filter(Boolean).join(': ');
  return `${shortened(what, MAX_REASON)} (node ${text('node_id')}, ${text('node_type')})`;
}

const fileSchema = z.object({
  filename: z.string().min(1),
  subfolder: z.string().default(''),
  type: z.string().default('output'),
});

/** Any list of files is an output, whatever its name, except previews. */
export function madeBy(node: string, output: Readonly<Record<string, unknown>>): readonly MadeOutput[] {
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
