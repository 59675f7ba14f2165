// What a firing of a schedule would make now.

import { Readable } from 'node:stream';
import { propose, type Around, type Proposal } from '../create-batch/propose.ts';
import { AGAIN, refusal, type Words } from '../create-batch/questions.ts';
import { firingOf, isFilled, type ScheduleDefinition } from './definition.ts';
import { isRunsheetError } from '../errors/error.ts';

/**
 * undefined if its sheet does not exist yet; the caller disposes of it. Throws the errors of the sheet and of the service, and what no
 * firing could answer. What other batches have by then is not known now.
 */
export async function proposeFiring(
  definition: ScheduleDefinition,
  around: Omit<Around, 'isPlan'>,
  words: Words,
): Promise<Proposal | undefined> {
  const { name, sheet, request } = firingOf(definition, Date.now());
  const { format } = definition;
  const { sheet: page } = request.options;
  const copying = { stdin: Readable.from([]), ...(format && { format }), ...(page && { sheet: page }) };
  const asked = { ...request, name, again: true, answers: { ...request.answers, ...AGAIN } };
  try {
    const proposal = await propose(asked, { path: sheet, copying }, { ...around, isPlan: true });
    const { questions } = proposal;
    if (questions.length === 0) return proposal;
    await proposal[Symbol.asyncDispose]();
    throw refusal(questions, words);
  } catch (error) {
    if (isFilled(definition.sheet) && isRunsheetError(error, 'E101')) return undefined;
    throw error;
  }
}
