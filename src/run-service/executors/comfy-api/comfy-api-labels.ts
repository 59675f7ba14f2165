// How jobs are labelled with their runs: a deployment stores a map, comfy-api-proxy a text, and Comfy Cloud
// nothing. The supported form is found by the service's refusals, which create no job, and the jobs that it
// shows reveal whether it keeps labels.

import type { Sent } from '../backend.ts';
import { problemIn } from './comfy-api-answers.ts';
import type { ServerAnswer } from '../http.ts';

const FORMS = ['map', 'text', 'none'] as const;
export type Form = (typeof FORMS)[number];

/** The run and the try that a job belongs to. */
export type Label = { readonly run: string; readonly tries: number };

const NAMES = { run: 'runsheet', tries: 'runsheet-try' };

/** The idempotency key of a try, which is also the label of its job in text form. */
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

/** Matches all jobs of this run, whichever their try. */
export const filterFor = ({ id }: Pick<Sent, 'id'>): string =>
  `${encodeURIComponent(`metadata[${NAMES.run}]`)}=${encodeURIComponent(id)}`;

export class Labels {
  #form: Form = 'map';
  #isKept: boolean | undefined;

  get form(): Form {
    return this.#form;
  }

  /** Whether the service shows a labelled job with its label. */
  get isKept(): boolean {
    return this.#isKept === true;
  }

  /** The label fields of a submission. */
  metadataFor(run: Pick<Sent, 'id' | 'tries'>): {
    readonly metadata?: string | Readonly<Record<string, string>>;
  } {
    if (this.#form === 'none') return {};
    if (this.#form === 'text') return { metadata: labelOf(run) };
    return { metadata: { [NAMES.run]: run.id, [NAMES.tries]: String(run.tries ?? 1) } };
  }

  /** Takes the next form if the answer refuses the label; false if it does not, or no form is left. */
  takeNextForm(answer: ServerAnswer): boolean {
    const { code = '', message = '' } = problemIn(answer) ?? {};
    const isLabel =
      code.startsWith('metadata_') || (code === 'invalid_request' && /\bmetadata\b/.test(message));
    const next = FORMS[FORMS.indexOf(this.#form) + 1];
    if (![400, 422].includes(answer.status) || !isLabel || next === undefined) return false;
    this.#form = code === 'metadata_not_supported' ? 'none' : next;
    return true;
  }

  /** Notes the label, or its absence, on a job that was sent with one. */
  shown(metadata: unknown): void {
    if (labelIn(metadata) === undefined) {
      if (this.#isKept === undefined && this.#form !== 'none') this.#isKept = false;
      return;
    }
    this.#isKept = true;
    if (typeof metadata === 'string') this.#form = 'text';
  }
}
