// Classifies how a POST ended (R5) from what the sender observed. Each class answers one question: may a run exist?

/** Facts that the sender observed about one Queue Run call. */
export type PostFacts = {
  /** Whether the first byte was written. If not, the service cannot have received the request. */
  readonly begun: boolean;
  /** The HTTP status, if the status line arrived. */
  readonly status?: number;
  /** The run id, if the whole body arrived and contains one. */
  readonly runId?: string;
  /** The service's message: its `detail` text, or its validation problems as text. */
  readonly detail?: string;
  /** `loc` of each validation problem. */
  readonly locs?: readonly (readonly (string | number)[])[];
  /** Where the problem is, if the message is one that the service sends only before it creates a run. */
  readonly fault?: 'row' | 'batch';
  readonly retryAfterMs?: number;
  /** A proxy wants a login, so the request reached nothing behind it. */
  readonly proxyRefused?: true;
  /** Why there is no response, in one line. */
  readonly error?: string;
};

/**
 * `rejected`: this row cannot run · `blocked`: no row can run for now · `throttled`: too many requests · `not-sent`:
 * nothing reached the service · `unconfirmed`: a run may exist.
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

/**
 * The class of a POST. A status that is not in the table counts as unconfirmed, because the service may have accepted
 * it.
 */
export function classifyResponse(facts: PostFacts): PostClass {
  if (facts.proxyRefused) return 'blocked';
  if (!facts.begun) return 'not-sent';
  const { status } = facts;
  if (status === undefined) return 'unconfirmed';
  // A machine behind the service sends this message, and may have started the run despite the status.
  if (facts.detail?.startsWith('Error creating run:')) return 'unconfirmed';
  if (facts.fault !== undefined) return facts.fault === 'row' ? 'rejected' : 'blocked';
  if (status >= 200 && status < 300) return facts.runId === undefined ? 'unconfirmed' : 'accepted';
  if (status === 422) return isAboutRow(facts) ? 'rejected' : 'blocked';
  return BY_STATUS[status] ?? 'unconfirmed';
}

/** Whether every problem is in the row's own inputs or gpu; any other problem would affect every row. */
function isAboutRow({ locs = [] }: PostFacts): boolean {
  return (
    locs.length > 0 &&
    locs.every(([where, field]) => where === 'body' && (field === 'inputs' || field === 'gpu'))
  );
}
