// Refuses files that are no tables, by their content or name. Read as lines, each of their lines would be bought.

import { extname } from 'node:path';
import { problem } from '../../errors/error.ts';
import { headText } from '../text/recognized-bytes.ts';

type ForeignText = { readonly what: string; readonly hint: string };

/** Throws E104. */
export function refuseForeignText(file: string, head: Uint8Array): void {
  const foreign = documentIn(file, head) ?? foreignIn(file, headText(head).trimStart());
  if (foreign !== undefined) throw problem('E104', foreign, { place: { file } });
}

const AS_CSV = 'save it as CSV, JSON or JSONL: a list of objects, one for each row';

const AS_TEXT = 'save its table as .xlsx or .csv, or one text a line as .txt';

/** Documents of other programs: the start of the file, a part that its zip file has first, or its name. */
const DOCUMENTS: readonly (readonly [begins: RegExp, names: RegExp, what: string, hint: string])[] = [
  [
    /^PK.*mimetypeapplication\/vnd\.oasis\.opendocument\.text/s,
    /\.odt$/,
    'an OpenDocument text (.odt)',
    AS_TEXT,
  ],
  [/^PK.*\bword\/(?:document|_rels)/s, /\.docx$/, 'a Word document (.docx)', AS_TEXT],
  [/^PK.*\bppt\/(?:presentation|slides|_rels)/s, /\.pptx$/, 'a PowerPoint presentation (.pptx)', AS_TEXT],
  [
    /^PK.*\bIndex\/(?:Document|Tables)/s,
    /\.numbers$/,
    'a sheet of Apple Numbers (.numbers)',
    'in Numbers: File > Export To > Excel or CSV',
  ],
  [/^\{\\rtf/, /\.rtf$/, 'a formatted text (.rtf)', AS_TEXT],
  [/^%PDF-/, /\.pdf$/, 'a PDF', AS_TEXT],
  [/^(?!)/, /\.doc$/, 'an old Word document (.doc)', AS_TEXT],
  [
    /<office:document\b/,
    /\.fods$/,
    'a flat OpenDocument sheet (.fods)',
    'open it in LibreOffice, and save it as .ods, .xlsx or .csv',
  ],
  [
    /^(?:\ufeff)?\s*<\?xml[^]*<(?:\w+:)?Workbook\b[^>]*urn:schemas-microsoft-com:office:spreadsheet/,
    /^(?!)/,
    'an XML sheet of Excel 2003',
    'open it in Excel or LibreOffice, and save it as .xlsx or .csv',
  ],
  [
    /^(?:\ufeff)?\s*\[Script Info\]/i,
    /\.(?:ass|ssa)$/,
    'subtitles of SubStation Alpha (.ass)',
    'save them as .srt: in Aegisub File > Export subtitles, or with ffmpeg -i subtitles.ass subtitles.srt',
  ],
];

function documentIn(file: string, head: Uint8Array): ForeignText | undefined {
  const [bytes, text] = [Buffer.from(head).toString('latin1'), headText(head)];
  const extension = extname(file).toLowerCase();
  const document = DOCUMENTS.find(
    ([begins, names]) => begins.test(bytes) || begins.test(text) || names.test(extension),
  );
  return document && { what: `${file} is ${document[2]}`, hint: document[3] };
}

function foreignIn(file: string, text: string): ForeignText | undefined {
  if (/^\{[^]*"url"\s*:\s*"https:\/\/docs\.google\.com\//.test(text.slice(0, 2000)) && text.length < 2000)
    return {
      what: `${file} is a shortcut to a Google sheet, without its rows`,
      hint: 'in Google Sheets: File > Download > Comma-separated values (.csv), or give the link of the published sheet',
    };
  if (/^\{\s*"\d+"\s*:\s*"[^]*?"\s*,\s*"\d+"\s*:\s*"/.test(text))
    return {
      what: `${file} has texts by number, such as the keyframes of Deforum, which are one animation`,
      hint: 'if each text is a row of its own, write them as a list: ["a fox", "an owl"]',
    };
  return isYaml(file, text) ? { what: `${file} is YAML`, hint: AS_CSV } : undefined;
}

/** Whether its name says so, or it begins with a list of mappings. */
function isYaml(file: string, text: string): boolean {
  if (/^\.ya?ml$/.test(extname(file).toLowerCase())) return true;
  const [first = '', ...lines] = text.replace(/^---\s*\n/, '').split(/\r\n|\n/);
  return /^- [\w-]+:(?:\s|$)/.test(first) && lines.some((line) => /^ {2,}[\w-]+:(?:\s|$)/.test(line));
}
