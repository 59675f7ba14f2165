// Messages of a chat or a transcript: `[03.11.25, 21:04:12] Jo: a fox`, `11/3/25, 9:04 PM - Jo: a fox`, or `Jo  9:04 PM` above a text.
// Discord writes `Jo — Today at 9:04 PM`, and the name of a program, `APP` and the rest in three lines.
//
//   before any message ──head──► message is open ──text──► goes on, even after an empty line
//                                     │ head or end: the message is taken
//                                     └ further paragraphs of the last one are notices if no other message has several

/** `isNotice`: a line of the program, or of nobody. */
export type Message = {
  readonly row: number;
  readonly time: string;
  readonly voice: string;
  readonly text: string;
  readonly isNotice: boolean;
  /** Whether a program wrote it. */
  readonly isOfProgram?: boolean;
};

const TIME = String.raw`\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[,.]\d{1,3})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?`;
const DATE = String.raw`\d{1,4}(?:[./-]\s?\d{1,2}){1,2}(?:[./-]\s?\d{1,4})?\.?`;
const STAMP = String.raw`(?:${DATE}(?:,|T|\s|\s?um)\s?)?${TIME}`;
const NAME = String.raw`[\p{L}\d~+][^:\n<>]{0,39}?`;

/** The stamp before the name, as WhatsApp, Signal and Zoom write it; a notice has no name. */
const STAMP_FIRST = new RegExp(
  String.raw`^\s*(?:\[(${STAMP})\]|(${STAMP}))\s*(?:[-–—]\s+)?(?:From\s+)?(?:(${NAME})\s*:(?:\s+|$))?(.*)$`,
  'u',
);

/** The name before the stamp, alone in a line, as Slack, Telegram, Otter and Teams write it. */
const NAME_FIRST = new RegExp(
  String.raw`^\s*(${NAME})(?:,?\s+[[(](${STAMP})[\])]|\s{2,}(${STAMP})|\s+(${STAMP}(?<=[Mm]\.?)))\s*:?\s*$`,
  'u',
);

/** `Today at`, `Heute um`, `Hier à`, as Discord dates its last messages. */
const DAY = String.raw`(?:today|yesterday|heute|gestern|aujourd['’]hui|hier|hoy|ayer|oggi|ieri|hoje|ontem|vandaag|gisteren|сегодня|вчера)(?:,|\s+(?:at|um|à|a\s+las?|alle|às|om|в))?\s+`;

/** The name, which may stand in a line above, and the stamp after a dash, as Discord writes them. */
const DASHED = new RegExp(
  String.raw`^\s*(?:(${NAME})\s+)?[—–]\s+((${DAY}|${DATE},?\s+)?${TIME})(?:\s+Uhr)?\s*$`,
  'iu',
);

/** The mark of a program after its name, or below it. */
const PROGRAM = /(?:^|\s)✓?(?:APP|BOT|WEBHOOK)$/;

/** Apps mark the texts of their own by an invisible sign, or by brackets around all. */
const NOTICE = /^\u200e|^<[^<>]+>$/u;

/** `isDashed`: with a date after a dash, so that no schedule has it. */
type Head = Omit<Message, 'row'> & { readonly isNameFirst: boolean; readonly isDashed?: boolean };

function headIn(line: string): Head | undefined {
  // Programs put invisible marks of direction and narrow blanks into their lines.
  const text = line.replace(/^[\u200e\u202a\ufeff]+/u, '').replaceAll(/[\u00a0\u202f]/gu, ' ');
  const [, author = '', time, date] = DASHED.exec(text) ?? [];
  if (time !== undefined && (author !== '' || date !== undefined))
    return {
      ...programIn(author),
      time,
      text: '',
      isNotice: false,
      isNameFirst: true,
      isDashed: date !== undefined,
    };
  const [, voice, ...stamps] = NAME_FIRST.exec(text) ?? [];
  if (voice !== undefined)
    return { time: timeIn(stamps), voice: voice.trim(), text: '', isNotice: false, isNameFirst: true };
  const match = STAMP_FIRST.exec(text);
  if (match === null) return undefined;
  const [, bracketed, bare, name = '', said = ''] = match;
  const isNotice = name === '' || NOTICE.test(said);
  const words = said.replaceAll('\u200e', '').trim();
  return { time: timeIn([bracketed, bare]), voice: name.trim(), text: words, isNotice, isNameFirst: false };
}

/** The name in front of the mark of a program. */
function programIn(name: string): Pick<Message, 'voice' | 'isOfProgram'> {
  const voice = name.trim().replace(PROGRAM, '').trim();
  return { voice, ...(voice !== name.trim() && { isOfProgram: true }) };
}

const timeIn = (stamps: readonly (string | undefined)[]): string =>
  stamps.find((stamp) => stamp !== undefined) ?? '';

const LEAST_HEADS = 2;
/** Lines of a chat by each head of Discord, which writes one above several messages. */
const LINES_OF_DASHED = 10;

/** Whether most lines begin with a stamp and a name, or heads in lines of their own are each above a text. */
export function isChat(lines: readonly string[]): boolean {
  const filled = lines.slice(0, 200).filter((line) => line.trim() !== '');
  const heads = filled.map(headIn);
  const inline = heads.filter((head) => head !== undefined && !head.isNameFirst && head.voice !== '');
  if (inline.length >= LEAST_HEADS && inline.length * 2 >= filled.length) return true;
  const dashed = heads.filter((head) => head?.isDashed === true);
  if (dashed.length >= LEAST_HEADS && dashed.length * LINES_OF_DASHED >= filled.length) {
    const hasTexts = heads.some(
      (head, at) => head?.isDashed === true && at + 1 < heads.length && heads[at + 1] === undefined,
    );
    if (hasTexts) return true;
  }
  const above = heads.filter((head, at) => head?.isNameFirst === true && at + 1 < filled.length);
  const areAbove = heads.every((head, at) => head?.isNameFirst !== true || heads[at + 1] === undefined);
  return areAbove && above.length >= LEAST_HEADS && above.length * 4 >= filled.length;
}

type OpenMessage = Head & { readonly row: number; readonly paragraphs: { row: number; lines: string[] }[] };

export class Messages {
  #open: OpenMessage | undefined;
  #isBlankAbove = false;
  #haveParagraphs = false;
  /** Lines above the first message. */
  #above: Message[] = [];

  /** Takes a line, and returns what it completes. */
  take(text: string, row: number): readonly Message[] {
    const head = headIn(text);
    const isBlankAbove = this.#isBlankAbove;
    this.#isBlankAbove = text.trim() === '';
    if (this.#isBlankAbove) return [];
    if (head !== undefined) {
      const author = head.voice === '' && head.isDashed === true ? this.#takeAuthor() : {};
      const taken = [...this.#above.splice(0), ...this.#close(false)];
      this.#open = { ...head, ...author, row, paragraphs: [] };
      if (head.text !== '') this.#open.paragraphs.push({ row, lines: [head.text] });
      return taken;
    }
    if (this.#open === undefined) {
      this.#above.push(noticeOf(row, text));
      return [];
    }
    const { paragraphs } = this.#open;
    const last = paragraphs.at(-1);
    if (last === undefined || isBlankAbove) paragraphs.push({ row, lines: [text.trim()] });
    else last.lines.push(text.trim());
    return [];
  }

  end(): readonly Message[] {
    return [...this.#above.splice(0), ...this.#close(true)];
  }

  /** The name in the line above, or above the mark of a program, which the message before has taken for texts. */
  #takeAuthor(): Pick<Message, 'voice' | 'isOfProgram'> {
    const { paragraphs = [] } = this.#open ?? {};
    const last = paragraphs.at(-1)?.lines;
    const takeLine = (): string => (last === undefined ? this.#above.pop()?.text : last.pop()) ?? '';
    const line = takeLine();
    const isOfProgram = PROGRAM.test(line) && programIn(line).voice === '';
    const author = isOfProgram ? { voice: takeLine(), isOfProgram } : programIn(line);
    if (last?.length === 0) paragraphs.splice(-1);
    return author;
  }

  #close(isLast: boolean): readonly Message[] {
    if (this.#open === undefined) return [];
    const { row, time, voice, isNotice, isOfProgram = false, paragraphs } = this.#open;
    this.#open = undefined;
    const texts = paragraphs.map(({ lines }) => lines.join('\n'));
    const isFooted = isLast && !this.#haveParagraphs;
    this.#haveParagraphs ||= texts.length > 1;
    const own = isFooted ? texts.slice(0, 1) : texts;
    const is = { isNotice: isNotice || own.length === 0, isOfProgram };
    const message = { row, time, voice, text: own.join('\n\n'), ...is };
    const footers = paragraphs.slice(own.length);
    return [message, ...footers.map(({ row: at, lines }) => noticeOf(at, lines.join('\n')))];
  }
}

const noticeOf = (row: number, text: string): Message => ({
  row,
  time: '',
  voice: '',
  text: text.trim(),
  isNotice: true,
});
