// What became of a POST (R5), as one table over what was observed. The question behind every row: may a run exist?

/** What the sender saw of one Queue Run call. */
export type PostFacts = {
  /** Whether the first byte was written. Where it never was, the service cannot know of it. */
  readonly begun: boolean;
  /** The status, once its line arrived. */
  readonly status?: number;
  /** The run id, where the whole body arrived and carries one. */
  readonly runId?: string;
  /** The service's words: its `detail` sentence, or its problems as text. */
  readonly detail?: string;
  /** `loc` of each validation problem. */
  readonly locs?: readonly (readonly (string | number)[])[];
  /** What the service found wrong before it created anything, where its words are known to say just that. */
  readonly fault?: 'row' | 'batch';
  readonly retryAfterMs?: number;
  /** Why there is no answer, in one line. */
  readonly error?: string;
};

export type PostClass = 'accepted' | 'refused' | 'not-sent' | 'not-processed' | 'pause' | 'uncertain';

const BY_STATUS: Readonly<Record<number, PostClass>> = {
  400: 'refused',
  413: 'refused',
  431: 'refused',
  408: 'not-processed',
  425: 'not-processed',
  429: 'not-processed',
  401: 'pause',
  402: 'pause',
  403: 'pause',
  404: 'pause',
  405: 'pause',
  415: 'pause',
};

/** The class of a POST. Whatever is not listed may have been accepted: it is uncertain. */
export function classify(facts: PostFacts): PostClass {
  if (!facts.begun) return 'not-sent';
  const { status } = facts;
  if (status === undefined) return 'uncertain';
  // Passed through from a worker behind the service, which may have taken the run whatever its status says.
  if (facts.detail?.startsWith('Error creating run:')) return 'uncertain';
  if (facts.fault !== undefined) return facts.fault === 'row' ? 'refused' : 'pause';
  if (status >= 200 && status < 300) return facts.runId === undefined ? 'uncertain' : 'accepted';
  if (status === 422) return isAboutRow(facts) ? 'refused' : 'pause';
  return BY_STATUS[status] ?? 'uncertain';
}

/** Whether every problem lies in the row's own inputs or gpu; a problem elsewhere would meet every row alike. */
function isAboutRow({ locs = [] }: PostFacts): boolean {
  return (
    locs.length > 0 &&
    locs.every(([where, field]) => where === 'body' && (field === 'inputs' || field === 'gpu'))
  );
}
