// A job of the Comfy API as its contract shows it, and the state of the run that follows from it.

import { z } from 'zod';
import type { RunEnd, MadeOutput, Seen } from '../backend.ts';
import { shown } from '../http.ts';

const timeSchema = z.string().nullish().catch(undefined);
const textSchema = z.coerce.string().nullish().catch(undefined);

/** Only the id and the status are required; an odd field of one job must not keep the others from being polled. */
export const jobSchema = z.object({
  id: z.string(),
  status: z.string(),
  created_at: timeSchema,
  started_at: timeSchema,
  completed_at: timeSchema,
  metadata: z.unknown().optional(),
  metrics: z.object({ execution_ms: z.number().nullish() }).nullish().catch(undefined),
  outputs: z.unknown().optional(),
  error: z
    .object({ message: textSchema, node_id: textSchema, class_type: textSchema })
    .nullish()
    .catch(undefined),
});
export type Job = z.output<typeof jobSchema>;

const outputsSchema = z
  .array(
    z.object({
      node_id: z.coerce.string(),
      name: z.string(),
      type: z.string().default('file'),
      id: z.string(),
    }),
  )
  .nullish();

/** An `expired` job is `absent`, because it hides how the run ended, even a success. An unknown status must not be awaited forever. */
export function seenOf(job: Job): Seen {
  const { id: ref, status, completed_at } = job;
  switch (status) {
    case 'running':
    case 'canceling':
      return { at: 'running', ref };
    case 'succeeded':
      return { at: 'ended', ref, end: successOf(job) };
    case 'failed':
      return { at: 'ended', ref, end: failureOf(job) };
    case 'canceled':
      return { at: 'ended', ref, end: { status: 'interrupted', ranMs: ranMsOf(job) } };
    case 'expired':
      return { at: 'absent' };
    default:
      return completed_at == null
        ? { at: 'waiting', ref }
        : { at: 'unread', ref, reason: `it has the status ${shown(status)}` };
  }
}

export const hasMadeNothing = (seen: Seen): boolean =>
  seen.at === 'ended' && seen.end.status === 'success' && seen.end.made.length === 0;

function ranMsOf({ started_at, completed_at, metrics }: Job): number | undefined {
  const ranMs = Date.parse(completed_at ?? '') - Date.parse(started_at ?? '');
  return Number.isNaN(ranMs) ? (metrics?.execution_ms ?? undefined) : ranMs;
}

function successOf(job: Job): RunEnd {
  const outputs = outputsSchema.safeParse(job.outputs);
  return outputs.success
    ? { status: 'success', ranMs: ranMsOf(job), made: madeBy(outputs.data ?? []) }
    : { status: 'failed', ranMs: ranMsOf(job), reason: 'it has outputs that cannot be read' };
}

function failureOf(job: Job): RunEnd {
  const { message, node_id, class_type } = job.error ?? {};
  const where = node_id == null ? '' : ` (node ${[node_id, class_type].filter(Boolean).join(', ')})`;
  const reason = `${shown(message?.trim() ?? '') || 'it failed without a reason'}${where}`;
  return { status: 'failed', ranMs: ranMsOf(job), reason };
}

/** ComfyUI's names for these kinds of output. */
const KEYS: Readonly<Record<string, string>> = { image: 'images', file: 'files', latent: 'latents' };

const madeBy = (outputs: NonNullable<z.output<typeof outputsSchema>>): readonly MadeOutput[] =>
  [...Map.groupBy(outputs, ({ node_id, type }) => `${node_id} ${type}`).values()].flatMap(
    ([first, ...more]) =>
      first === undefined
        ? []
        : [
            {
              node: first.node_id,
              key: KEYS[first.type] ?? first.type,
              files: [first, ...more].map(({ name, id }) => ({
                filename: name,
                subfolder: '',
                type: 'output',
                asset: id,
              })),
              texts: [],
            },
          ],
  );
