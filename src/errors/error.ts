// The error class for users. Code throws `problem(code, facts)`; message and hint come from the error table.

import { distance } from 'fastest-levenshtein';
import { shortened } from './outside-text.ts';
import { isTemporalAway, temporalText } from './temporal-text.ts';
import { withoutSecrets } from './redact.ts';
import { errorTable } from './codes.ts';
import { didYouMean, list, sentences, type ErrorEntry } from './entry.ts';

export { EXIT, list } from './entry.ts';

/** A place in a sheet. Lines are physical lines and columns count fields (JSON: characters), from 1. */
export type SheetPlace = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The address of the cell in a workbook: `C17`. */
  readonly cell?: string;
  readonly row?: number;
  readonly columnName?: string;
  /** The line, unchanged from the file. */
  readonly excerpt?: string;
};

export type Code = keyof typeof errorTable;
type FactsOf<C extends Code> = (typeof errorTable)[C] extends ErrorEntry<infer F> ? F : never;

/** A flag, with its value if it takes one. */
export type GivenFlag = readonly [flag: string, value?: string];

/** The change that makes the command right: a wrong word and its replacement, missing flags, or variables in front. */
export type Correction =
  | { readonly wrong: string; readonly right: string }
  | { readonly add: readonly GivenFlag[]; readonly environment?: Variables }
  | { readonly environment: Variables };

type Variables = readonly (readonly [variable: string, value: string])[];

/** `message` says what is wrong, `hint` how to fix it, `exit` is the command's exit code. */
export class RunsheetError extends Error {
  override readonly name: string = 'RunsheetError';
  /** Identifies the error forever. */
  readonly code: Code;
  readonly exit: number;
  readonly hint: string | undefined;
  readonly place: SheetPlace | undefined;
  readonly correction: Correction | undefined;

  constructor(
    code: Code,
    message: string,
    details: {
      exit: number;
      hint?: string | undefined;
      place?: SheetPlace | undefined;
      correction?: Correction | undefined;
      cause?: unknown;
    },
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.exit = details.exit;
    this.hint = details.hint;
    this.place = details.place;
    this.correction = details.correction;
  }
}

/** Whether the error is a RunsheetError, with this code if one is passed. */
export const isRunsheetError = <C extends Code = Code>(
  error: unknown,
  code?: C,
): error is RunsheetError & { readonly code: C } =>
  error instanceof RunsheetError && (code === undefined || error.code === code);

/**
 * Builds the error `code` from its facts. `place` is its place in a sheet, `correction` the command that was meant, `cause` the
 * caught error.
 */
export function problem<C extends Code>(
  code: C,
  facts: FactsOf<C>,
  more: { place?: SheetPlace; correction?: Correction | undefined; cause?: unknown } = {},
): RunsheetError {
  const row = errorTable[code] as ErrorEntry<FactsOf<C>>;
  const [message, hint] = row.text(facts);
  return new RunsheetError(code, message, { exit: row.exit, hint, ...more });
}

/** Turns an error of Temporal's client into E418 if no server answers; any other error stays. */
export const withTemporalFault = (thrown: unknown): unknown =>
  !isRunsheetError(thrown) && isTemporalAway(thrown)
    ? problem('E418', { reason: errorMessage(thrown) }, { cause: thrown })
    : thrown;

export const correctionOf = (wrong: string, right: string | undefined): Correction | undefined =>
  right === undefined ? undefined : { wrong, right };

/** The word in `words` nearest to `wrong`; undefined if every word differs in more than `most` letters. */
export function nearest(
  wrong: string,
  words: readonly string[],
  // More than a third wrong letters, or all of them, mean another word, not a typing error.
  most = Math.min(wrong.length - 1, Math.max(2, Math.floor(wrong.length / 3))),
): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = words
    .map((word) => ({ word, away: distance(lower, word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
    .at(0);
  return ranked && ranked.away <= most ? ranked.word : undefined;
}

/** Finds the most likely name among names that arrive one after another. */
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

/** The hint after a wrong name: the probable name, and all names. */
export const hintAmong = (
  wrong: string,
  noun: string,
  names: readonly string[],
  choice: { near?: string | undefined; between?: string } = {},
): string => {
  const near = 'near' in choice ? choice.near : nearest(wrong, names);
  return sentences(didYouMean(near), `${noun}: ${list(names, choice.between)}`);
};

/** Puts the error on one line, for readers who see nothing else of it. */
export const codedMessage = ({
  code,
  message,
  hint,
}: Pick<RunsheetError, 'code' | 'message' | 'hint'>): string =>
  `${code}: ${message}${hint === undefined ? '' : `; ${hint}`}`;

/** Messages appear in signals, records and on screens, and their length is not under our control. */
const MAX_REASON = 1_000;

/** The message of any thrown value, without secrets. */
export const errorMessage = (thrown: unknown): string =>
  shortened(withoutSecrets(rawMessage(thrown)), MAX_REASON);

function rawMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // Temporal's client names the call, and its cause says what is wrong.
  if (thrown.name === 'ServiceError' && thrown.cause instanceof Error) return rawMessage(thrown.cause);
  const message = temporalText(thrown.message) ?? plainTls(thrown.message);
  const code = 'code' in thrown && typeof thrown.code === 'string' && !message.includes(thrown.code);
  const own = code ? `${message} (${String((thrown as { code?: unknown }).code)})` : message;
  // The AggregateError of a failed connect has an empty message.
  if (own === '' && thrown instanceof AggregateError) return thrown.errors.map(rawMessage).join('; ');
  return own || thrown.name;
}

const UNTRUSTED =
  /(?<!trust: )(self-signed certificate(?: in certificate chain)?|unable to (?:verify the first|get (?:local )?issuer) certificate)(?:; if the root CA is installed locally, try running Node\.js with --use-system-ca)?/g;
const OPENSSL = /(?:\b[0-9A-F]+:)?error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):[^\n]*\n?/g;

/** Node suggests a flag that our command does not have, and OpenSSL names lines of its sources. */
const plainTls = (message: string): string =>
  message
    .replaceAll(
      UNTRUSTED,
      'its certificate is one that this machine does not trust: $1; if its authority is yours, set NODE_EXTRA_CA_CERTS=/path/of/ca.pem (or NODE_USE_SYSTEM_CA=1, if the system knows it)',
    )
    .replaceAll(OPENSSL, 'TLS failed: $1');
