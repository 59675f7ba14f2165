// Rewrites the messages of gRPC and of Temporal's native core, which contain status numbers, load balancing details and data
// structures.

/** `4 DEADLINE_EXCEEDED: Deadline exceeded after 9.9s,LB pick: 0.001s,remote_addr=127.0.0.1:7233`. */
const STATUSES =
  'CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED';
const GRPC = new RegExp(`^\\d{1,2} (${STATUSES.replaceAll(' ', '|')}): ?(.*)$`, 's');

const MEANINGS: Readonly<Record<string, string>> = {
  CANCELLED: 'the request was cancelled',
  DEADLINE_EXCEEDED: 'it did not answer in time',
  PERMISSION_DENIED: 'it refuses access',
  RESOURCE_EXHAUSTED: 'it is busy',
  UNAUTHENTICATED: 'it refuses the credentials',
  UNAVAILABLE: 'it cannot be reached',
};

/** Statuses whose details are useless to a user. */
const WITHOUT_DETAILS = new Set(['CANCELLED', 'DEADLINE_EXCEEDED']);

/** `tonic::transport::Error(Transport, ConnectError(…, Os { code: 111, message: "Connection refused" }))`. */
const NATIVE = /tonic::\w+::Error\(.*\)/s;

/** Statuses of an unreachable server. */
const AWAY = /^\d{1,2} (?:UNAVAILABLE|DEADLINE_EXCEEDED): /;

/** Whether the error or its cause says that no Temporal server answers. */
export function isTemporalAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return AWAY.test(thrown.message) || isTemporalAway(thrown.cause);
}

/** The readable text of such an error; undefined for any other error. */
export function temporalText(message: string): string | undefined {
  const [, status, details = ''] = GRPC.exec(message) ?? [];
  if (status !== undefined) return `Temporal: ${meaningOf(status, details)}`;
  return NATIVE.test(message) ? message.replace(NATIVE, nativeText) : undefined;
}

function meaningOf(status: string, details: string): string {
  const meaning = MEANINGS[status];
  const more = plainDetails(details);
  if (meaning === undefined) return more || status.toLowerCase().replaceAll('_', ' ');
  return WITHOUT_DETAILS.has(status) || more === '' ? meaning : `${meaning}: ${more}`;
}

/** Removes the state of the client. */
const plainDetails = (details: string): string =>
  details
    .replace(/^No connection established\.? ?(?:Last error: )?/, '')
    .replace(/[.,]? ?Resolution note:.*$/s, '')
    .replace(/,LB pick:.*$/s, '')
    .trim();

/** The last quoted text, or the last name in the structure. */
function nativeText(structure: string): string {
  const quoted = [...structure.matchAll(/"([^"]+)"/g)].at(-1)?.[1];
  if (quoted !== undefined) return quoted;
  const [, certificate] = /InvalidCertificate\((\w+)/.exec(structure) ?? [];
  if (certificate !== undefined) return `TLS failed: its certificate is not accepted (${certificate})`;
  return [...structure.matchAll(/\w+/g)].at(-1)?.[0] ?? 'it cannot be reached';
}
