// The fields that a request fills, and why a server would refuse its values.

import { isRawNumber } from '../../../host/formats/exact-json.ts';
import { isWebAddress } from '../../../host/http/web-address.ts';
import { list, nearest } from '../../../errors/error.ts';
import { badValue, listed, type Refusal } from '../../../service-client/contract/refusal.ts';
import { pathOf } from './naming/values.ts';
import { faultIn } from './workflow-faults.ts';
import type { Workflow } from './workflow.ts';
import type { Field, InputType } from './workflow-inputs.ts';

/**
 * The fields that a request member fills: those of an input, or the field that it names as NODE.FIELD. A
 * former name fills the fields of all inputs that had it.
 */
export function fieldsNamed(inputs: readonly InputType[], name: string): readonly Field[] | undefined {
  const certain = inputs.filter(({ ask }) => ask === undefined);
  // Only older requests use former names; newer ones name fields.
  const old = certain.filter(({ before }) => before?.includes(name));
  if (old.length > 0) return old.flatMap(({ fields }) => fields);
  const named =
    certain.find((input) => input.name === name) ?? certain.find(({ also }) => also?.includes(name));
  if (named !== undefined) return named.fields;
  const field = inputs
    .flatMap(({ fields }) => fields)
    .find((candidate) =>
      candidate.part === undefined
        ? pathOf(candidate) === name
        : `${pathOf(candidate)}${candidate.part}` === name,
    );
  return field && [field];
}

/** Why the server would refuse a run with these inputs; every reason is named before anything is sent. */
export function inputRefusals(
  { inputs }: Workflow,
  values: Readonly<Record<string, unknown>>,
): readonly Refusal[] {
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const fields = fieldsNamed(inputs, name);
    const why = fields === undefined ? UNKNOWN : refusalOf(value, fields, inputs);
    return why === undefined ? [] : [{ name, value, why }];
  });
  // Only listed refusals get a suggestion for the name.
  return listed(wrong, ({ name, value, why }) => [
    badValue(['body', 'inputs', name], value, why === UNKNOWN ? unknownText(name, inputs) : why),
  ]);
}

const UNKNOWN = 'unknown';

function unknownText(name: string, inputs: readonly InputType[]): string {
  const question = inputs.find((input) => input.name === name)?.ask;
  if (question !== undefined) {
    const paths = inputs.find((input) => input.name === name)?.fields.map(pathOf) ?? [];
    return `${name} may be ${list(paths)}, because ${question.why}: name one of them`;
  }
  const near = nearest(
    name,
    inputs.map((input) => input.name),
  );
  return `the workflow has no input ${name}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** A list would link to another node, so that a row could change the workflow. */
function refusalOf(
  value: unknown,
  fields: readonly Field[],
  inputs: readonly InputType[],
): string | undefined {
  if (value === null || (typeof value === 'object' && !isRawNumber(value)))
    return 'it must be a text, a number or a boolean';
  const isFile = fields.some((field) => field.isFile);
  if (isFile && typeof value === 'string' && leadsOut(value))
    return 'it leads out of the folder where ComfyUI has such files';
  const [first] = fields;
  const bounds = inputs.find((input) =>
    input.fields.some((field) => first && pathOf(field) === pathOf(first)),
  );
  return faultIn(value, bounds && { ...bounds, isFile });
}

/** Whether ComfyUI would read a file outside of its folders by this name. Addresses are fetched by the service. */
const leadsOut = (name: string): boolean =>
  !isWebAddress(name) && /^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(name);
