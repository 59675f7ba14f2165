// The error class for users. Code throws `problem(code, facts)`; message and hint come from the error table.

import { distance } from 'fastest-levenshtein';
import { shortened } from './outside-text.ts';
import { isTemporalAway, temporalText } from './temporal-text.ts';
import { withoutSecrets } from './redact.ts';
import { errorTable } from './codes.ts';
import { didYouMean, list, sentences, type Entry } from './entry.ts';

export { EXIT, list } from './entry.ts';

/** Where in a sheet something is wrong. Lines are physical lines and columns count fields (JSON: characters), from 1. */
export type Place = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The address of the cell in a workbook: `C17`. */
  readonly cell?: string;
  readonly row?: number;
  readonly columnName?: string;
  /** The line as it is in the file. */
  readonly excerpt?: string;
};

export type Code = keyof typeof errorTable;
type FactsOf<C extends Code> = (typeof errorTable)[C] extends Entry<infer F> ? F : never;

/** A flag, with its value if it takes one. */
export type GivenFlag = readonly [flag: string, value?: string];

/** How the command becomes right: a wrong word and the one that was meant, flags that it lacks, or variables before it. */
export type Correction =
  | { readonly wrong: string; readonly right: string }
  | { readonly add: readonly GivenFlag[]; readonly environment?: Variables }
  | { readonly environment: Variables };

type Variables = readonly (readonly [variable: string, value: string])[];

/** `message` says what is wrong, `hint` how to fix it, `exit` is the command's exit code. */
export class RunsheetError extends Error {
  override readonly name: string = 'RunsheetError';
  /** Names the error for ever. */
  readonly code: Code;
  readonly exit: number;
  readonly hint: string | undefined;
  readonly place: Place | undefined;
  readonly correction: Correction | undefined;

  constructor(
    code: Code,
    message: string,
    rest: {
      exit: number;
      hint?: string | undefined;
      place?: Place | undefined;
      correction?: Correction | undefined;
      cause?: unknown;
    },
  ) {
    super(message, rest.cause === undefined ? {} : { cause: rest.cause });
    this.code = code;
    this.exit = rest.exit;
    this.hint = rest.hint;
    this.place = rest.place;
    this.correction = rest.correction;
  }
}

/** Whether it is a RunsheetError, with this code if one is given. */
export const isRunsheetError = <C extends Code = Code>(
  error: unknown,
  code?: C,
): error is RunsheetError & { readonly code: C } =>
  error instanceof RunsheetError && (code === undefined || error.code === code);

/** Composes the error `code` from its facts; `place` says where in a sheet, `correction` what was meant, `cause` what was caught. */
export function problem<C extends Code>(
  code: C,
  facts: FactsOf<C>,
  more: { place?: Place; correction?: Correction | undefined; cause?: unknown } = {},
): RunsheetError {
  const row = errorTable[code] as Entry<FactsOf<C>>;
  const [message, hint] = row.text(facts);
  return new RunsheetError(code, message, { exit: row.exit, hint, ...more });
}

/** E418 for an error of Temporal's client because no server answers; any other error as it is. */
export const withTemporalFault = (thrown: unknown): unknown =>
  !isRunsheetError(thrown) && isTemporalAway(thrown)
    ? problem('E418', { reason: errorMessage(thrown) }, { cause: thrown })
    : thrown;

export const correctionOf = (wrong: string, right: string | undefined): Correction | undefined =>
  right === undefined ? undefined : { wrong, right };

/** The word in `words` nearest to `wrong`; undefined if all differ in more than `most` letters. */
export function nearest(
  wrong: string,
  words: readonly string[],
  // More than a third wrong letters, or all of them, means another word, not a typing error.
  most = Math.min(wrong.length - 1, Math.max(2, Math.floor(wrong.length / 3))),
): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = words
    .map((word) => ({ word, away: distance(lower, word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .at(0);
  return ranked && ranked.away <= most ? ranked.word : undefined;
}

/** Finds the name that was most likely meant, among names that come one after another. */
export class NearestName {
  readonly wrong: string;
  near: string | undefined;

  constructor(wrong: string) {
    this.wrong = wrong;
  }

  add(name: string): void {
    this.near = nearest(this.wrong, this.near === undefined ? [name] : [this.near, name]);
  }
}

/** After a wrong name: the one that was probably meant, and those that there are. */
export const hintAmong = (
  wrong: string,
  noun: string,
  known: readonly string[],
  { near = nearest(wrong, known), between }: { near?: string | undefined; between?: string } = {},
): string => sentences(didYouMean(near), `${noun}: ${list(known, between)}`);

/** The error as one line, for who sees nothing else of it. */
export const codedMessage = ({
  code,
  message,
  hint,
}: Pick<RunsheetError, 'code' | 'message' | 'hint'>): string =>
  `${code}: ${message}${hint === undefined ? '' : `; ${hint}`}`;

/** Messages appear in signals, records and on screens, and their length is not under our control. */
const REASON_MAX = 1_000;

/** The message of anything that was thrown, without secrets. */
export const errorMessage = (thrown: unknown): string =>
  shortened(withoutSecrets(rawMessage(thrown)), REASON_MAX);

function rawMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // Temporal's client names the call, and its cause says what is wrong.
  if (thrown.name === 'ServiceError' && thrown.cause instanceof Error) return rawMessage(thrown.cause);
  const message = temporalText(thrown.message) ?? plainTls(thrown.message);
  const code = 'code' in thrown && typeof thrown.code === 'string' && !message.includes(thrown.code);
  const own = code ? `${message} (${String((thrown as { code?: unknown }).code)})` : message;
  // AggregateError of a failed connect has an empty message of its own.
  if (own === '' && thrown instanceof AggregateError) return thrown.errors.map(rawMessage).join('; ');
  return own || thrown.name;
}

const UNTRUSTED =
  /(?<!trust: )(self-signed certificate(?: in certificate chain)?|unable to (?:verify the first|get (?:local )?issuer) certificate)(?:; if the root CA is installed locally, try running Node\.js with --use-system-ca)?/g;
const OPENSSL = /(?:\b[0-9A-F]+:)?error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):[^\n]*\n?/g;

/** Node advises a flag that our command does not have, and OpenSSL names lines of its sources. */
const plainTls = (message: string): string =>
  message
    .replaceAll(
      UNTRUSTED,
      'its certificate is one that this machine does not trust: $1; if its authority is yours, set NODE_EXTRA_CA_CERTS=/path/of/ca.pem (or NODE_USE_SYSTEM_CA=1, if the system knows it)',
    )
    .replaceAll(OPENSSL, 'TLS failed: $1');
