// ComfyUI's checks before it queues a prompt: each output node separately, with every node that it needs.

import { isRawNumber } from '../../src/host/formats/exact-json.ts';
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

  const check = new Check(graph, stock);
  const node_errors: NodeErrors = {};
  const bad: string[] = [];
  for (const output of outputs) {
    if (check.isValid(output, 'exception_during_validation', 'Exception when validating node')) continue;
    bad.push(output);
    // Also the nodes that only an earlier output needs: ComfyUI names them again.
    for (const [id, errors] of check.found)
      if (errors.length > 0) {
        const { class_type } = nodeOf(graph, id);
        (node_errors[id] ??= { errors, dependent_outputs: [], class_type }).dependent_outputs.push(output);
      }
  }
  if (bad.length < outputs.length) return { outputs: outputs.filter((id) => !bad.includes(id)), node_errors };
  const details = bad.flatMap(
    (id) => check.found.get(id)?.map((fault) => `${fault.message}: ${fault.details}`) ?? [],
  );
  const type = 'prompt_outputs_failed_validation';
  return { error: reason(type, 'Prompt outputs failed validation', details.join('\n')), node_errors };
}

function unknownClass(id: string, { class_type }: { class_type: string | undefined }): Reason {
  const what =
    class_type === undefined
      ? 'a node is missing the class_type property'
      : `node ${class_type} does not exist`;
  return reason('invalid_prompt', `Cannot execute because ${what}.`, `Node ID '#${id}'`);
}

class Check {
  /** The reasons against each node that was looked at. A node that is invalid only because of what it needs has none. */
  readonly found = new Map<string, readonly Reason[]>();
  readonly #graph: Graph;
  readonly #stock: Stock;
  readonly #above: string[] = [];

  constructor(graph: Graph, stock: Stock) {
    this.#graph = graph;
    this.#stock = stock;
  }

  isValid(id: string, exception: string, message: string): boolean {
    const depth = this.#above.length;
    try {
      if (this.#above.includes(id))
        throw new NodeException('RecursionError', 'maximum recursion depth exceeded');
      this.#above.push(id);
      return this.#look(id);
    } catch (error) {
      if (!(error instanceof NodeException)) throw error;
      this.found.set(id, [reason(exception, message, error.message, { exception_type: error.type })]);
      return false;
    } finally {
      this.#above.length = depth;
    }
  }

  #look(id: string): boolean {
    const { inputs } = nodeOf(this.#graph, id);
    const { required, optional, refuses } = classOf(this.#graph, id);
    const needed = required(this.#stock);
    const reasons: Reason[] = [];
    let isFed = true;
    for (const [name, field] of Object.entries({ ...needed, ...optional })) {
      const value = inputs[name];
      const wrong =
        value === undefined
          ? name in needed && ofInput('required_input_missing', name, { details: name })
          : Array.isArray(value)
            ? linkProblem(this.#graph, name, field, value)
            : valueProblem(name, field, inputs, name === refuses?.field);
      if (wrong) reasons.push(wrong);
      else if (Array.isArray(value)) isFed = this.#isFeederValid(String(value[0])) && isFed;
    }
    const why = refuses && refuses.field in inputs && refuses.why(inputs[refuses.field], this.#stock);
    if (why)
      reasons.push(
        ofInput('custom_validation_failed', refuses.field, { details: `${refuses.field} - ${why}` }),
      );
    this.found.set(id, reasons);
    return reasons.length === 0 && isFed;
  }

  #isFeederValid(id: string): boolean {
    return this.isValid(id, 'exception_during_inner_validation', 'Exception when validating inner node');
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
  const received_type = classOf(graph, String(link[0])).returns[Number(link[1])];
  if (type === '*' || received_type === type) return undefined;
  const details = `${name}, received_type(${received_type}) mismatch input_type(${String(type)})`;
  return ofInput('return_type_mismatch', name, { details, input_config, received_type, linked_node: link });
}

/** Converts the value as Python would, and says why that or its range is wrong. */
function valueProblem(
  name: string,
  [type, options = {}]: Field,
  inputs: Record<string, unknown>,
  isCheckedElsewhere: boolean,
): Reason | undefined {
  const inputValue = inputs[name];
  const input_config = [type, options];
  const value = converted(type, inputValue);
  if (value === undefined)
    return ofInput('invalid_input_type', name, {
      message: `Failed to convert an input value to a ${String(type)} value`,
      details: `${name}, ${digitsOf(inputValue)}`,
      input_config,
      received_value: inputValue,
    });
  inputs[name] = value;
  if (isCheckedElsewhere) return undefined;
  const more = { details: name, input_config, received_value: value };
  const outside = (kind: string, than: string): Reason =>
    ofInput(kind, name, { ...more, message: `Value ${digitsOf(value)} ${than}` });
  const { min, max } = options;
  if (min !== undefined && isLess(value, min))
    return outside('value_smaller_than_min', `smaller than min of ${digitsOf(min)}`);
  if (max !== undefined && isLess(max, value))
    return outside('value_bigger_than_max', `bigger than max of ${digitsOf(max)}`);
  if (typeof type === 'string' || type.some((choice) => choice === value)) return undefined;
  const list = `[${type.map((choice) => `'${choice}'`).join(', ')}]`;
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
  if (value === null) return undefined;
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  const isWrong =
    Number.isNaN(number) || (type === 'INT' && typeof value === 'string' && /[.e]/i.test(value));
  if (isWrong) return undefined;
  return type === 'INT' ? Math.trunc(number) : number;
}

const isLess = (a: unknown, b: unknown): boolean =>
  isRawNumber(a) || isRawNumber(b) ? BigInt(digitsOf(a)) < BigInt(digitsOf(b)) : Number(a) < Number(b);

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
