// ComfyUI in a container at a vendor: a workflow as the input of worker-comfyui, and what its answer means.
//
//      {"workflow": {…}, "images": [{"name": "runsheet-1f2e….png", "image": "data:image/png;base64,…"}]}
//
// Source: handler.py and the README of github.com/runpod-workers/worker-comfyui.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Graph, PutFile } from '../backend.ts';
import { filledGraph, type InputValues } from '../workflow/filled-workflow.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { dataExtension } from './vendor-answers.ts';

type WorkerInput = {
  readonly workflow: Graph;
  /** Stored in the input folder of ComfyUI before the workflow runs. `image`: a data URI. */
  readonly images?: readonly { readonly name: string; readonly image: string }[];
};

/** `files`: the files of the run as data URIs, by the value of their input. */
export function workerInput(
  workflow: Workflow,
  values: InputValues,
  run: { readonly id: string; readonly day: string },
  files: ReadonlyMap<string, PutFile>,
): WorkerInput {
  const stored = [...files].flatMap(([value, image]) =>
    typeof image === 'string' ? [{ value, image, name: nameOf(image) }] : [],
  );
  const names = new Map(stored.map(({ value, name }) => [value, name]));
  const images = [...new Map(stored.map(({ name, image }) => [name, { name, image }])).values()];
  return { workflow: filledGraph(workflow, values, run, names), ...(images.length > 0 && { images }) };
}

/** Equal for equal content, so that ComfyUI answers from its cache only for the same picture. */
function nameOf(dataUri: string): string {
  const hash = createHash('sha256').update(dataUri).digest('hex');
  return `runsheet-${hash.slice(0, 16)}.${dataExtension(dataUri) ?? 'png'}`;
}

const answerSchema = z.looseObject({
  images: z.array(z.unknown()),
  errors: z.array(z.unknown()).default([]),
});

/**
 * Why a job that counts as completed has not delivered: the worker lists errors beside the images of the nodes
 * that still ran, and returns no files except images. undefined if it has, or if this is no answer of the worker.
 */
export function workerFault(output: unknown): string | undefined {
  const { data } = answerSchema.safeParse(output);
  if (data === undefined) return undefined;
  const { images, errors } = data;
  if (errors.length > 0)
    return errors.map((error) => (typeof error === 'string' ? error : JSON.stringify(error))).join('; ');
  return images.length === 0
    ? 'the worker returned no image: worker-comfyui returns what SaveImage nodes save, and no video, sound or text'
    : undefined;
}
