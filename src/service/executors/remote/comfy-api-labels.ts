// How the jobs of runs are labelled: a deployment keeps a map, comfy-api-proxy a text, and Comfy Cloud nothing. The form that a service
// takes is found by its refusals, which make no job, and whether it keeps labels by the jobs that it shows.

import type { Sent } from './backend.ts';
import { problemIn } from './comfy-api-answers.ts';
import type { Answer } from './http.ts';

const FORMS = ['map', 'text', 'none'] as const;
export type Form = (typeof FORMS)[number];

/** The run that a job belongs to, and which of its tries. */
export type Label = { readonly run: string; readonly tries: number };

const NAMES = { run: 'runsheet', tries: 'runsheet-try' };

/** The key of a try, and the label of its job as a text. */
export const labelOf = ({ id, tries = 1 }: Pick<Sent, 'id' | 'tries'>): string => `rs-${id}-${tries}`;

export const labelIn = (metadata: unknown): Label | undefined => {
  if (typeof metadata === 'string') {
    const [, run, tries] = /^rs-(.+)-(\d+)$/.exec(metadata) ?? [];
    return run === undefined ? undefined : { run, tries: Number(tries) };
  }
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { [NAMES.run]: run, [NAMES.tries]: tries } = metadata as Readonly<Record<string, unknown>>;
  return typeof run === 'string' ? { run, tries: Number(tries) } : undefined;
};

export const isOf = (metadata: unknown, { id, tries }: Pick<Sent, 'id' | 'tries'>): boolean => {
  const label = labelIn(metadata);
  return label?.run === id && (tries === undefined || label.tries === tries);
};

/** Jobs of this run, whichever its try. */
export const filterFor = ({ id }: Pick<Sent, 'id'>): string =>
  `${encodeURIComponent(`metadata[${NAMES.run}]`)}=${encodeURIComponent(id)}`;

export class Labels {
  #form: Form = 'map';
  #isKept: boolean | undefined;

  get form(): Form {
    return this.#form;
  }

  /** Whether a job that was labelled is shown with its label. */
  get isKept(): boolean {
    return this.#isKept === true;
  }

  /** What goes with a submission. */
  metadataFor(run: Pick<Sent, 'id' | 'tries'>): {
    readonly metadata?: string | Readonly<Record<string, string>>;
  } {
    if (this.#form === 'none') return {};
    if (this.#form === 'text') return { metadata: labelOf(run) };
    return { metadata: { [NAMES.run]: run.id, [NAMES.tries]: String(run.tries ?? 1) } };
  }

  /** Whether the answer refuses the label, so that the next form is sent instead. */
  isRefused(answer: Answer): boolean {
    const { code = '', message = '' } = problemIn(answer) ?? {};
    const isLabel =
      code.startsWith('metadata_') || (code === 'invalid_request' && /\bmetadata\b/.test(message));
    const next = FORMS[FORMS.indexOf(this.#form) + 1];
    if (![400, 422].includes(answer.status) || !isLabel || next === undefined) return false;
    this.#form = code === 'metadata_not_supported' ? 'none' : next;
    return true;
  }

  /** A job that was sent with a label is shown with this. */
  shown(metadata: unknown): void {
    if (labelIn(metadata) === undefined) {
      if (this.#isKept === undefined && this.#form !== 'none') this.#isKept = false;
      return;
    }
    this.#isKept = true;
    if (typeof metadata === 'string') this.#form = 'text';
  }
}
