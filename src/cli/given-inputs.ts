// Inputs from --set, for a command that queues a run by itself: read as a sheet's cells are, by what the deployment says.

import { parseExactly } from '../batch/digits.ts';
import { list, nearest, problem } from '../errors/error.ts';
import type { Deployment } from '../run-service/contract/deployment.ts';
import { kindOf, readText } from '../sheet/parse-cell.ts';
import { pairs } from './batch-options.ts';

/** Throws E602 where a needed input is missing, one is misspelt, or the deployment has no such input. */
export function inputsFrom(
  given: readonly string[] | undefined,
  { inputTypes }: Deployment,
): Readonly<Record<string, unknown>> {
  const texts = pairs('--set', given);
  const missing = inputTypes?.find(({ name, required }) => required && texts[name] === undefined);
  if (missing)
    throw problem('E602', {
      what: `the deployment needs the input "${missing.name}"`,
      hint: `--set ${missing.name}=<value> gives it; --no-run does without a run`,
    });
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, valueOf(name, text, inputTypes)]),
  );
}

function valueOf(name: string, text: string, inputTypes: Deployment['inputTypes']): unknown {
  const type = inputTypes?.find((one) => one.name === name);
  const known = inputTypes?.map((one) => one.name) ?? [];
  if (inputTypes && type === undefined)
    throw problem('E602', {
      what: `--set ${name}: the deployment has no such input`,
      hint: `inputs: ${list(known)}${suggestion(nearest(name, known))}`,
    });
  const read = readText(text, type === undefined ? 'auto' : kindOf(type.type));
  if (typeof read === 'string') return parseExactly(read);
  throw problem('E602', { what: `--set ${name}=${text}: it is not ${read.type}`, ...hintOf(read) });
}

const suggestion = (near: string | undefined): string =>
  near === undefined ? '' : `; did you mean ${near}?`;
const hintOf = ({ hint }: { readonly hint?: string }) => (hint === undefined ? {} : { hint });
