// Reads the file of --workflow: JSON from any tool, or a picture, film or sound that ComfyUI saved. The
// local run service finds the graph in its text.

import { basename } from 'node:path';
import { problem, errorMessage } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { MEDIA_EXTENSIONS } from '../../host/formats/media-types.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import { isMedia, MEDIA_ENDS, textsInMedia } from '../../host/formats/texts-in-media.ts';
import type { GivenGpus } from '../../library/register-own-gpus.ts';

type GivenWorkflow = GivenGpus['workflows'][number];
type WorkflowText = Pick<GivenWorkflow, 'text' | 'at' | 'file'>;

const WORKFLOW_BYTES = 32 * 1024 * 1024;
const ENDINGS = new RegExp(`([_-]api)?\\.(?:json|${MEDIA_EXTENSIONS})$`, 'i');

/** Parses `portrait=portrait_api.json` or a path alone; `#$.workflows[1]` after it picks one of several graphs. */
export function workflowIn(option: string): GivenWorkflow {
  const { name, path } = namedFile(option);
  const read = workflowText(path, '--workflow needs a file');
  return { name: name ?? basename(graphPlace(path).file).replace(ENDINGS, ''), ...read };
}

const namedFile = (option: string): { readonly name: string | undefined; readonly path: string } => {
  const [, name, path = option] = /^([^=/\\]+)=(.+)$/s.exec(option) ?? [];
  return { name, path };
};

/** The path in a value of --workflow. */
export const workflowFileIn = (option: string): string => graphPlace(namedFile(option).path).file;

const graphPlace = (path: string): { readonly file: string; readonly at: string | undefined } => {
  const [, file = path, at] = /^(.+?)#(\$(?:[.[].*)?)$/s.exec(path) ?? [];
  return { file, at };
};

/** Throws the fault of an unreadable file; `need` names who needs it. */
export function workflowText(path: string, need: string): WorkflowText {
  const { file, at } = graphPlace(path);
  const hint = `${need}: in ComfyUI, choose Workflow → Export (API)`;
  let bytes: Buffer;
  try {
    bytes = readPlainFile(file, { mostBytes: WORKFLOW_BYTES, mayBePipe: true, ends: MEDIA_ENDS }).bytes;
  } catch (error) {
    const unread = { what: `${file} cannot be read: ${errorMessage(error)}`, hint };
    throw fileFault(error, { path: file, hint }) ?? problem('E602', unread, { cause: error });
  }
  const text = isMedia(bytes) ? textOfMedia(file, bytes) : bytes.toString('utf8');
  return { text, file, ...(at !== undefined && { at }) };
}

/** Skips texts without nodes, unless the editor's own workflow is the only one. */
function textOfMedia(file: string, bytes: Buffer): string {
  const allTexts = textsInMedia(bytes);
  const texts = allTexts.filter((text) => text.includes('class_type'));
  const candidate = texts[0] ?? allTexts.find((text) => text.includes('"links"'));
  if (candidate === undefined)
    throw problem('E602', {
      what: `${file} holds no workflow; a picture that a website re-encoded has lost it`,
      hint: 'give the file as ComfyUI saved it, or choose Workflow → Export (API) there',
    });
  return texts.length > 1 ? JSON.stringify(texts) : candidate;
}
