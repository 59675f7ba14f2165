// How a POST ended (R5), as one table over what was observed. The question behind every line: may a run exist?

/** What the sender saw of one Queue Run call. */
export type PostFacts = {
  /** Whether the first byte was written. Otherwise the service cannot know of it. */
  readonly begun: boolean;
  /** The status, once its line arrived. */
  readonly status?: number;
  /** The run id, if the whole body arrived and has one. */
  readonly runId?: string;
  /** The service's message: its `detail` sentence, or its validation problems as text. */
  readonly detail?: string;
  /** `loc` of each validation problem. */
  readonly locs?: readonly (readonly (string | number)[])[];
  /** What the service found wrong before it created anything, if its message is known to say just that. */
  readonly fault?: 'row' | 'batch';
  readonly retryAfterMs?: number;
  /** Why there is no answer, in one line. */
  readonly error?: string;
};

/**
 * `rejected`: this row cannot run · `blocked`: no row can run for now · `throttled`: too many requests · `not-sent`: nothing
 * reached the service · `unconfirmed`: a run may exist.
 */
export type PostClass = 'accepted' | 'rejected' | 'not-sent' | 'throttled' | 'blocked' | 'unconfirmed';

const BY_STATUS: Readonly<Record<number, PostClass>> = {
  400: 'rejected',
  413: 'rejected',
  431: 'rejected',
  408: 'throttled',
  425: 'throttled',
  429: 'throttled',
  401: 'blocked',
  402: 'blocked',
  403: 'blocked',
  404: 'blocked',
  405: 'blocked',
  415: 'blocked',
};

/** The class of a POST. Whatever is not listed may have been accepted: it is unconfirmed. */
export function classifyResponse(facts: PostFacts): PostClass {
  if (!facts.begun) return 'not-sent';
  const { status } = facts;
  if (status === undefined) return 'unconfirmed';
  // Passed through from a worker behind the service, which may have taken the run whatever its status says.
  if (facts.detail?.startsWith('Error creating run:')) return 'unconfirmed';
  if (facts.fault !== undefined) return facts.fault === 'row' ? 'rejected' : 'blocked';
  if (status >= 200 && status < 300) return facts.runId === undefined ? 'unconfirmed' : 'accepted';
  if (status === 422) return isAboutRow(facts) ? 'rejected' : 'blocked';
  return BY_STATUS[status] ?? 'unconfirmed';
}

/** Whether every problem lies in the row's own inputs or gpu; a problem elsewhere would meet every row alike. */
function isAboutRow({ locs = [] }: PostFacts): boolean {
  return (
    locs.length > 0 &&
    locs.every(([where, field]) => where === 'body' && (field === 'inputs' || field === 'gpu'))
  );
}
