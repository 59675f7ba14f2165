/** Words that people and programs write where there is no value. */
export const NOTHING_WORDS: ReadonlySet<string> = new Set(
  'n/a,na,nan,none,null,nil,\\n,undefined,-,--,–,—,tbd,todo,(none),(empty),(blank)'.split(','),
);

/** `--null keep`: all words are values. */
export const KEEP = 'keep';
