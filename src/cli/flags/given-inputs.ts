// Parses inputs from --set as a sheet's cells, with the types of the deployment.

import { parseExactly } from '../../batch/digits.ts';
import { list, nearest, problem } from '../../errors/error.ts';
import type { Deployment } from '../../run-service/contract/deployment.ts';
import { kindOf, readText } from '../../sheet/parse-cell.ts';
import { inputsSet } from './batch-options.ts';

/** Throws E602 for a missing, invalid or unknown input. */
export function inputsFrom(
  given: readonly string[] | undefined,
  { inputTypes }: Deployment,
): Readonly<Record<string, unknown>> {
  const texts = inputsSet(given);
  const missing = inputTypes?.find(({ name, required }) => required && texts[name] === undefined);
  if (missing)
    throw problem('E602', {
      what: `the deployment requires the input "${missing.name}"`,
      hint: `add --set ${missing.name}=<value>, or skip the run with --no-run`,
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
  throw problem('E602', { what: `--set ${name}=${text}: the value is not ${read.type}`, ...hintOf(read) });
}

const suggestion = (near: string | undefined): string =>
  near === undefined ? '' : `; did you mean ${near}?`;
const hintOf = ({ hint }: { readonly hint?: string }) => (hint === undefined ? {} : { hint });
