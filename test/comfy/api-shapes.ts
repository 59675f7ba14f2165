// The shapes of the Comfy API v2 as its contract has them: jobs, items of lists, outputs, assets, and the envelope of errors.

import type { Graph } from './node-classes.ts';

type Status = 'queued' | 'running' | 'succeeded' | 'canceling' | 'canceled' | 'failed' | 'expired';

/** A file that ComfyUI has made. */
export type Image = { readonly filename: string; readonly subfolder: string; readonly type: string };

export type NodeError = {
  readonly message: string;
  readonly node_id: string | null;
  readonly class_type: string | null;
};

/** The facts of a job, without its time and its labels. */
export type Progress = {
  readonly status: Status;
  readonly startedMs?: number | undefined;
  readonly completedMs?: number | undefined;
  readonly outputs: readonly { readonly node: string; readonly key: string; readonly image: Image }[];
  readonly error?: NodeError | undefined;
};

/** The facts that were stored when a job was accepted. */
export type StoredJob = {
  readonly id: string;
  readonly graph: Graph;
  /** A map of labels, a text, or undefined where none is kept. */
  readonly metadata: unknown;
  readonly createdMs: number;
};

/** Refuses a request with an envelope. `holdsKey`: nobody can say whether a job was made. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object | undefined;
  readonly retryAfter: number | undefined;
  readonly holdsKey: boolean;

  constructor(
    status: number,
    code: string,
    message = code,
    more: { details?: object; retryAfter?: number; holdsKey?: boolean } = {},
  ) {
    super(message);
    [this.status, this.code, this.details] = [status, code, more.details];
    [this.retryAfter, this.holdsKey] = [more.retryAfter, more.holdsKey === true];
  }

  get body(): object {
    return { error: { code: this.code, message: this.message, details: this.details ?? null } };
  }
}

const RETENTION_MS = 24 * 3_600_000;

const isoOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

const KINDS: Readonly<Record<string, string>> = {
  images: 'image',
  gifs: 'video',
  audio: 'audio',
  text: 'text',
  files: 'file',
  latents: 'latent',
};

/** The id of an asset says where its file is, so that no store is needed. */
const assetIdOf = (image: Image): string => Buffer.from(JSON.stringify(image)).toString('base64url');
export const imageIn = (assetId: string): Image | undefined => {
  try {
    return JSON.parse(Buffer.from(assetId, 'base64url').toString()) as Image;
  } catch {
    return undefined;
  }
};

function outputsOf(base: string, jobId: string, { outputs }: Progress): readonly object[] {
  return outputs.flatMap(({ node, key, image }) => {
    const id = assetIdOf(image);
    return KINDS[key] === undefined
      ? []
      : [
          {
            node_id: node,
            name: image.filename,
            type: KINDS[key],
            content_type: image.filename.endsWith('.png') ? 'image/png' : 'application/octet-stream',
            size_bytes: 0,
            id,
            hash: null,
            url: `${base}/api/v2/assets/${id}/content`,
            url_expires_at: isoOf(Date.now() + RETENTION_MS),
            job_id: jobId,
          },
        ];
  });
}

/** The job object of `GET /api/v2/jobs/{id}`, and of the answers to a submission and a cancellation. */
export function jobShown(base: string, record: StoredJob, progress: Progress): Record<string, unknown> {
  const { id, createdMs, metadata } = record;
  const { status, startedMs, completedMs, error } = progress;
  const path = `${base}/api/v2/jobs/${id}`;
  return {
    id,
    status,
    created_at: isoOf(createdMs),
    started_at: isoOf(startedMs),
    completed_at: isoOf(completedMs),
    expires_at: isoOf(createdMs + RETENTION_MS),
    queue_position: status === 'queued' ? 1 : null,
    progress: status === 'running' ? { value: 0.5, nodes_done: 1, nodes_total: 2 } : null,
    outputs: outputsOf(base, id, progress),
    error: error === undefined ? null : { code: 'node_execution_error', traceback: null, ...error },
    metrics: {
      queue_ms: startedMs === undefined ? null : startedMs - createdMs,
      execution_ms: startedMs === undefined || completedMs === undefined ? null : completedMs - startedMs,
    },
    urls: { self: path, events: `${path}/events`, cancel: `${path}/cancel` },
    ...(metadata !== undefined && { metadata }),
  };
}

/** An item of a deployment's list: its stored record, without outputs and links. */
export const listItem = ({ id, graph, metadata, createdMs }: StoredJob, progress: Progress): object => ({
  id,
  status: progress.status,
  create_time: isoOf(createdMs),
  update_time: isoOf(progress.completedMs ?? progress.startedMs ?? createdMs),
  deployment_id: 'dep-1234abcd',
  workflow: graph,
  ...(metadata !== undefined && { metadata }),
});

export const assetShown = (base: string, image: Image, bytes: number): object => {
  const id = assetIdOf(image);
  return {
    id,
    hash: null,
    size_bytes: bytes,
    content_type: 'image/png',
    file_path: image.filename,
    created_new: true,
    created_at: isoOf(Date.now()),
    url: `${base}/api/v2/assets/${id}/content`,
    url_expires_at: isoOf(Date.now() + RETENTION_MS),
    expires_at: null,
  };
};
