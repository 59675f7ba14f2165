// Recognises cells that have several settings of a run.

import { isSetting } from './input-names.ts';

/** Whether most cells have several settings with their values. */
export const haveSettings = (values: readonly string[]): boolean =>
  values.length > 0 && values.filter(hasSettings).length * 2 > values.length;

/** Whether most parts of a cell are settings with a value: `size=512x512; export 64x64; steps=28`, `{"seed": 5}`. */
export function hasSettings(text: string): boolean {
  const parts = text.replaceAll(/[{}"']/g, '').split(/[;,\n]/);
  const filled = parts.filter((part) => part.trim() !== '');
  const names = filled.flatMap((part) => /^([^=:]+)[=:]\s*\S/.exec(part)?.[1] ?? []);
  return names.length * 2 > filled.length && names.some(isSettingOrSize);
}

const isSettingOrSize = (name = ''): boolean => isSetting(name) || /^\s*size\s*$/i.test(name);
