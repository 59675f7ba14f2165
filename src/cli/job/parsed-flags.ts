// Parses the flags of a job file with the parser of its command.

import { buildApplication, buildCommand, run, type Command } from '@stricli/core';
import type { Context } from '../context.ts';
import { problem, RunsheetError } from '../../errors/error.ts';
import { parserFault, PARSER_TEXT } from '../flags/parser-faults.ts';

export type Parameters = Command<Context>['parameters'];

/** `place`: where the words stand in the file. Throws E602 for a value that its flag rejects. */
export async function parsedFlags<F>(
  context: Context,
  parameters: Parameters,
  words: readonly string[],
  place: string,
): Promise<F> {
  const { promise, resolve, reject } = Promise.withResolvers<F>();
  const func = (flags: object): void => resolve(flags as F);
  const reading = buildCommand({ func, parameters: parameters as never, docs: { brief: '' } });
  const application = buildApplication(reading, {
    name: 'runsheet',
    scanner: { caseStyle: 'allow-kebab-for-camel' },
    localization: { text: PARSER_TEXT },
  });
  await run(application, words, { process: context.process as never }).catch((refusal: unknown) => {
    const fault = parserFault(refusal, context.args ?? []);
    if (!(fault instanceof RunsheetError)) return reject(fault);
    const { message, hint = '' } = fault;
    reject(problem('E602', { what: `${place}: ${message}`, hint }));
  });
  return promise;
}
