// The target of a task without a graph: a model at a vendor, or a program on this machine.

import type { ModelHost } from '../../options/facts/server-kind.ts';

export type TaskTarget = { readonly id: string; readonly name: string } & (
  | { readonly kind: 'model'; readonly vendor: ModelHost; readonly model: string }
  | { readonly kind: 'program'; readonly program: Program }
);

/** A command line of the user. */
export type Program = {
  /** Whether a process stays for one run after another; else each run has its own. */
  readonly stays?: true;
  /** A text for `/bin/sh -c`, in which files of `folder` are named by absolute paths. */
  readonly command: string;
  /** Where the user named the program. */
  readonly folder: string;
  /** The environment of the program, apart from secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The names of secrets that each command passes on, which are never stored. */
  readonly secrets: readonly string[];
  /** The sha-256 of each file that the command names, by its absolute path. */
  readonly files: Readonly<Record<string, string>>;
};
