// The only test for http addresses. Two tests that disagree would let a text pass as an address at the door, and as the path of a
// file where it is opened.

/** Whether the text begins with `http://` or `https://` and a host, because programs that parse no URLs read `http:/etc` as a path. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/\\?#]/i.test(text) && URL.canParse(text);

/** Turns `gpu-1:8188` into `http://gpu-1:8188`. Without a port, it is not certain whether http or https is meant. */
export const withScheme = (text: string): string =>
  /^(?:\[[\da-f:.]+\]|[a-z\d][\w.-]*):\d{1,5}(?:\/\S*)?$/i.test(text) ? `http://${text}` : text;

/** Splits `RTX 4090=gpu-1:8188` into a name and the address of a server; the name is empty if there is none. */
export function namedServer(text: string): { readonly name: string; readonly url: string } {
  const [, name = '', url = text] = /^([^=/]+)=(.*)$/s.exec(text) ?? [];
  return { name, url: withScheme(url) };
}
