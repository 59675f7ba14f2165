// The options for reading a sheet that is made from a batch: columns that come along without being asked for give an input only
// where the deployment has it.

import type { Deployment } from '../../run-service/contract/deployment.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { BatchSpec } from '../batch-spec.ts';
import { resultIn, type SourceColumns } from './source-columns.ts';

type Options = BatchSpec['options'];

/** The options that were given, with a key for each row and without the columns that are no inputs. */
export function fromOptions(
  options: Options,
  columns: SourceColumns,
  source: Pick<BatchFile, 'sheet'>,
  { inputTypes }: Pick<Deployment, 'inputTypes'>,
): Options {
  // These are about the picks, and about how many rows were written.
  const { delimiter: _delimiter, encoding: _encoding, limit: _limit, ...given } = options;
  const mapped = new Set([...Object.values(given.map), given.gpuColumn]);
  const otherwise = new Set([...Object.keys(given.map), ...Object.keys(given.set)]);
  const known = inputTypes && new Set(inputTypes.map(({ name }) => name));
  const hasGpu = given.gpu !== undefined || given.ladder !== undefined;
  const isIgnored = (name: string): boolean => {
    if (mapped.has(name)) return false;
    if (otherwise.has(name)) return true;
    if (known?.has(name)) return false;
    if (name === 'gpu') return hasGpu;
    return known !== undefined || !wasSent(source, name);
  };
  const carried = columns.carried.map(({ name }) => name).filter(isIgnored);
  const own = mapped.has(columns.output) ? [] : [columns.output];
  const dropped = [...given.drop, ...carried, ...own];
  return { ...given, keyColumn: given.keyColumn ?? resultIn(columns, 'key'), drop: [...new Set(dropped)] };
}

/** Whether the source sent it as an input of this name. */
const wasSent = ({ sheet }: Pick<BatchFile, 'sheet'>, name: string): boolean =>
  sheet.inputs.some(({ input }) => input === name);
