// What ComfyUI checks before it queues a prompt: each output node on its own, with all that it needs.

import { isRawNumber } from '../../src/batch/digits.ts';
import {
  digitsOf,
  NODE_CLASSES,
  NodeException,
  type Field,
  type Graph,
  type NodeClass,
  type Stock,
} from './node-classes.ts';

type Reason = {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: object;
};
type NodeErrors = Record<
  string,
  { readonly errors: readonly Reason[]; readonly dependent_outputs: string[]; readonly class_type: string }
>;

export type Verdict =
  | { readonly error: Reason; readonly node_errors: NodeErrors }
  | { readonly error?: undefined; readonly outputs: readonly string[]; readonly node_errors: NodeErrors };

/** `offered` are the classes of this server. Values are converted in the graph itself. */
export function validate(graph: Graph, offered: ReadonlySet<string>, stock: Stock): Verdict {
  const unknown = Object.entries(graph).find(([, { class_type }]) => !offered.has(class_type));
  if (unknown) return { error: unknownClass(...unknown), node_errors: {} };
  const outputs = Object.keys(graph).filter((id) => classOf(graph, id).isOutput);
  if (outputs.length === 0)
    return { error: reason('prompt_no_outputs', 'Prompt has no outputs', ''), node_errors: {} };

  const found: Found = new Map();
  const node_errors: NodeErrors = {};
  const bad: string[] = [];
  for (const output of outputs) {
    if (isOutputValid(output, graph, stock, found)) continue;
    bad.push(output);
    // Also the nodes that only an earlier output needs: ComfyUI names them again.
    for (const [id, errors] of found)
      if (errors.length > 0) {
        const { class_type } = nodeOf(graph, id);
        (node_errors[id] ??= { errors, dependent_outputs: [], class_type }).dependent_outputs.push(output);
      }
  }
  const good = outputs.filter((output) => !bad.includes(output));
  if (good.length > 0) return { outputs: good, node_errors };
  const details = bad.flatMap((id) => (found.get(id) ?? []).map((one) => `${one.message}: ${one.details}`));
  const type = 'prompt_outputs_failed_validation';
  return { error: reason(type, 'Prompt outputs failed validation', details.join('\n')), node_errors };
}

/** The reasons against each node that was checked. A node that is invalid only because of what it needs has none. */
type Found = Map<string, readonly Reason[]>;

function unknownClass(id: string, { class_type }: { class_type: string | undefined }): Reason {
  return reason(
    'invalid_prompt',
    class_type === undefined
      ? 'Cannot execute because a node is missing the class_type property.'
      : `Cannot execute because node ${class_type} does not exist.`,
    `Node ID '#${id}'`,
  );
}

function isOutputValid(output: string, graph: Graph, stock: Stock, found: Found): boolean {
  try {
    return isValid(output, graph, stock, found, []);
  } catch (error) {
    found.set(output, [exception('exception_during_validation', 'Exception when validating node', error)]);
    return false;
  }
}

function isValid(id: string, graph: Graph, stock: Stock, found: Found, above: readonly string[]): boolean {
  if (above.includes(id)) throw new NodeException('RecursionError', 'maximum recursion depth exceeded');
  const { inputs } = nodeOf(graph, id);
  const { required, optional, refuses } = classOf(graph, id);
  const fields = { ...required(stock), ...optional };
  const reasons: Reason[] = [];
  let isFed = true;
  for (const [name, field] of Object.entries(fields)) {
    const value = inputs[name];
    if (value === undefined) {
      if (name in required(stock)) reasons.push(ofInput('required_input_missing', name, { details: name }));
    } else if (Array.isArray(value)) {
      const wrong = linkProblem(graph, name, field, value);
      if (wrong) reasons.push(wrong);
      else isFed = isFeederValid(String(value[0]), graph, stock, found, [...above, id]) && isFed;
    } else {
      const wrong = valueProblem(name, field, inputs, name === refuses?.field);
      if (wrong) reasons.push(wrong);
    }
  }
  const refusal = refuses && refuses.field in inputs && refuses.why(inputs[refuses.field], stock);
  if (refusal)
    reasons.push(
      ofInput('custom_validation_failed', refuses.field, { details: `${refuses.field} - ${refusal}` }),
    );
  found.set(id, reasons);
  return reasons.length === 0 && isFed;
}

function isFeederValid(
  id: string,
  graph: Graph,
  stock: Stock,
  found: Found,
  above: readonly string[],
): boolean {
  try {
    return isValid(id, graph, stock, found, above);
  } catch (error) {
    found.set(id, [
      exception('exception_during_inner_validation', 'Exception when validating inner node', error),
    ]);
    return false;
  }
}

function linkProblem(
  graph: Graph,
  name: string,
  [type]: Field,
  link: readonly unknown[],
): Reason | undefined {
  const input_config = [type, {}];
  if (link.length !== 2)
    return ofInput('bad_linked_input', name, { details: name, input_config, received_value: link });
  const received = classOf(graph, String(link[0])).returns[Number(link[1])];
  if (type === '*' || received === type) return undefined;
  const details = `${name}, received_type(${received}) mismatch input_type(${String(type)})`;
  return ofInput('return_type_mismatch', name, {
    details,
    input_config,
    received_type: received,
    linked_node: link,
  });
}

/** Converts the value as Python would, and says why that or its range is wrong. */
function valueProblem(
  name: string,
  [type, options = {}]: Field,
  inputs: Record<string, unknown>,
  isCheckedElsewhere: boolean,
): Reason | undefined {
  const given = inputs[name];
  const input_config = [type, options];
  const value = converted(type, given);
  if (value === undefined)
    return ofInput('invalid_input_type', name, {
      message: `Failed to convert an input value to a ${String(type)} value`,
      details: `${name}, ${digitsOf(given)}`,
      input_config,
      received_value: given,
    });
  inputs[name] = value;
  if (isCheckedElsewhere) return undefined;
  const more = { details: name, input_config, received_value: value };
  const { min, max } = options;
  if (min !== undefined && isLess(value, min))
    return ofInput('value_smaller_than_min', name, {
      ...more,
      message: `Value ${digitsOf(value)} smaller than min of ${digitsOf(min)}`,
    });
  if (max !== undefined && isLess(max, value))
    return ofInput('value_bigger_than_max', name, {
      ...more,
      message: `Value ${digitsOf(value)} bigger than max of ${digitsOf(max)}`,
    });
  if (typeof type === 'string' || type.some((one) => one === value)) return undefined;
  const list = `[${type.map((one) => `'${one}'`).join(', ')}]`;
  return ofInput('value_not_in_list', name, {
    ...more,
    details: `${name}: '${digitsOf(value)}' not in ${list}`,
  });
}

function converted(type: Field[0], value: unknown): unknown {
  if (type === 'STRING') return String(value);
  if (type === 'BOOLEAN') return Boolean(value);
  if (type !== 'INT' && type !== 'FLOAT') return value;
  if (isRawNumber(value)) return value;
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  const isWrong =
    Number.isNaN(number) || (type === 'INT' && typeof value === 'string' && /[.e]/i.test(value));
  if (isWrong) return undefined;
  return type === 'INT' ? Math.trunc(number) : number;
}

const isLess = (one: unknown, other: unknown): boolean =>
  isRawNumber(one) || isRawNumber(other)
    ? BigInt(digitsOf(one)) < BigInt(digitsOf(other))
    : Number(one) < Number(other);

function nodeOf(graph: Graph, id: string): Graph[string] {
  const node = graph[id];
  if (node === undefined) throw new NodeException('KeyError', `'${id}'`);
  return node;
}

const classOf = (graph: Graph, id: string): NodeClass =>
  NODE_CLASSES[nodeOf(graph, id).class_type] as NodeClass;

const MESSAGES: Readonly<Record<string, string>> = {
  required_input_missing: 'Required input is missing',
  bad_linked_input: 'Bad linked input, must be a length-2 list of [node_id, slot_index]',
  return_type_mismatch: 'Return type mismatch between linked nodes',
  value_not_in_list: 'Value not in list',
  custom_validation_failed: 'Custom validation failed for node',
};

type OfInput = { readonly details: string; readonly message?: string; readonly [more: string]: unknown };

function ofInput(
  type: string,
  name: string,
  { details, message = MESSAGES[type] ?? '', ...more }: OfInput,
): Reason {
  return reason(type, message, details, { input_name: name, ...more });
}

const reason = (type: string, message: string, details: string, extra_info: object = {}): Reason => ({
  type,
  message,
  details,
  extra_info,
});

const exception = (type: string, message: string, error: unknown): Reason =>
  error instanceof NodeException
    ? reason(type, message, error.message, { exception_type: error.type })
    : reason(type, message, String(error));
