// The one test of what counts as an http address. Two tests that disagree let a text pass as an address at the door, and as the
// path of a file where it is opened.

/** Whether the text starts with `http://` or `https://` and a host: programs that parse no URLs read `http:/etc` as a path. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/\\?#]/i.test(text) && URL.canParse(text);
