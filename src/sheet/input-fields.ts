// An input may also be named by the node and the field of the workflow that it fills, such as `6.text`, if it fills only that one.

import { nearest, problem } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import type { SheetOptions } from './sheet-options.ts';

/** undefined if none has this name, or if it names one of several fields of an input. */
export function inputNamed(inputTypes: readonly InputType[], name: string): InputType | undefined {
  const own = inputTypes.find((type) => type.name === name);
  const [one, ...others] = inputTypes.filter(({ fields = [] }) => fields.includes(name));
  return own ?? (others.length === 0 && one?.fields?.length === 1 ? one : undefined);
}

/** The name of the input that was probably meant. */
export function nearestInput(wrong: string, inputTypes: readonly InputType[]): string | undefined {
  const names = new Map(
    inputTypes.flatMap(({ name, fields = [] }) => [name, ...fields].map((one) => [one, name])),
  );
  return names.get(wrong) ?? names.get(nearest(wrong, [...names.keys()]) ?? '');
}

type Named = Pick<SheetOptions, 'map' | 'set' | 'types'>;

/** The options with the deployment's own names of inputs. Throws E602 if two of them are one input. */
export function withInputNames<Options extends Named>(
  options: Options,
  inputTypes: readonly InputType[] | undefined,
): Options {
  if (inputTypes === undefined) return options;
  const renamed = <V>(flag: string, values: Readonly<Record<string, V>>): Record<string, V> => {
    const names = Object.keys(values).map((name) => inputNamed(inputTypes, name)?.name ?? name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw problem('E602', {
        what: `two of --${flag} provide the input "${twice}"`,
        hint: 'remove one of them',
      });
    return Object.fromEntries(Object.values(values).map((value, at) => [names[at], value]));
  };
  const { map, set, types } = options;
  return { ...options, map: renamed('map', map), set: renamed('set', set), types: renamed('type', types) };
}
