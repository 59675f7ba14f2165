// Tells JSON from a text that only begins with one of its signs, such as `[Intro]`, `[00:12] Hello` and `{red|blue} fox`.

/** A string and the sign that may follow it in a list; a long one may be cut. */
const TEXT = String.raw`"(?:[^"\\\n]|\\.)*(?:$|"\s*(?:$|,|\]\s*(?:$|[\],])))`;

/** A number or a word. In `[12] a fox`, a text follows the list. */
const WORD = String.raw`(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?|true|false|null)\s*(?:$|,|\]\s*(?:$|[\],]))`;

/** The name of a member. Programs also write objects with other quotes, which the reader of JSON refuses by their place. */
const MEMBER = String.raw`(?:"(?:[^"\\\n]|\\.)*(?:$|"\s*(?:$|:))|'[^'\n]*'\s*:|[\w-]+\s*:\s*["']|\}\s*(?:$|[\],{]))`;

/** A list of Python has single quotes. */
const SINGLE = String.raw`'[^'\n]*'\s*(?:,|\]\s*(?:$|[\],]))`;

const OBJECT = new RegExp(String.raw`^\{\s*(?:$|${MEMBER})`, 'i');
const LIST = new RegExp(
  String.raw`^\[\s*(?:\[\s*)*(?:$|\{\s*(?:$|${MEMBER})|\]\s*(?:$|[\],])|${TEXT}|${WORD}|${SINGLE})`,
);

/** Whether the text begins as JSON does. A mistake after its beginning does not make it a list of lines. */
export const beginsAsJson = (text: string): boolean =>
  text.startsWith('[') ? LIST.test(text) : OBJECT.test(text);
