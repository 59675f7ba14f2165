// Asks about columns that change nothing although they seem to be settings, and about cells that seem to mean more than text.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { isDelimited, isTrade } from '../formats.ts';
import { kindOf } from '../parse-cell.ts';
import { isSize } from '../shared-cells.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { namesInTemplates } from '../templates.ts';
import { marksIn } from '../text/plain-text.ts';
import { nameBefore, spokenLine } from '../text/speakers.ts';
import { isMidjourney, midjourneyPart } from '../trade/midjourney.ts';
import { hasSettings, haveSettings } from './cell-settings.ts';
import { dropped, type Guess, mapped, or, said, toConfirm } from './guess.ts';
import { areOneSetting, hasItsValues, isSetting, isSpoken, isTellingSetting } from './input-names.ts';
import { isMedia } from './sample.ts';
import { SpeakerNames } from './speaker-names.ts';
import { textsAmong } from './stage-directions.ts';

type ValuesOf = (column: string) => readonly string[];

/** Columns that are settings by name, sizes, or several settings in one cell. */
export function settingsUnsent(
  columns: readonly string[],
  inputTypes: readonly InputType[],
  valuesOf: ValuesOf,
): readonly Guess[] {
  // A workflow may ignore a setting that its user obviously means.
  const isMeant = inputTypes.some(({ fields }) => fields !== undefined) ? isSetting : isTellingSetting;
  const isUnknown = (name: string): boolean =>
    isMeant(name) && !inputTypes.some((input) => areOneSetting(name, input.name));
  return columns.flatMap((name) => {
    const values = valuesOf(name);
    const several = haveSettings(values);
    const isOpen = (isUnknown(name) && hasItsValues(name, values)) || several || values.some(isSize);
    if (!isOpen) return [];
    const why = several
      ? `its cells have several settings, such as ${values.find(hasSettings)}, which need columns of their own`
      : 'the deployment has no such input';
    return [toConfirm('columns', `column "${name}" is not sent: ${why}`, dropped(name))];
  });
}

type SentFacts = {
  readonly free: readonly string[];
  readonly data: readonly string[];
  readonly options: SheetOptions;
  readonly inputTypes: readonly InputType[];
  readonly valuesOf: ValuesOf;
};

/** A file of choices of A1111, `__film/styles__`, and choices in the text itself, `{red|blue}`. */
const WILDCARD = /(?<![\w/])__[\w/-]+__(?![\w/])|\{[^{}|]*\|[^{}]*\}/;

/** A line end as programs write it, in any text; the place of a value, which nobody fills before a text is spoken. */
const LINE_END = /\\[nr](?![a-z]{2})/;
const PLACEHOLDER = /\$0\b|\$?\{[^{}|]{1,40}\}|(?<!\d)%(?:\d\$)?[sd@](?!\w)|%[A-Z_]{3,}%/;

/** A LoRA in a prompt of A1111, and the place of a style for the prompt. */
const LORA = /<lora:[^<>]*>/i;

/** A template of one cell. */
const CELL = /^\{([^{}]+)\}$/;

/** Reports sent cells that have a LoRA, choices, parameters of Midjourney, or a column in braces, which is no template. */
export function sentAsWritten(map: SheetOptions['map'], facts: SentFacts): readonly Guess[] {
  const { free, data, options, inputTypes, valuesOf } = facts;
  const texts = inputTypes.filter((type) => kindOf(type.type) === 'string' && !isMedia(type));
  return texts.flatMap(({ name }) => {
    const column =
      map[name] ?? CELL.exec(options.set[name] ?? '')?.[1]?.trim() ?? free.find((own) => own === name);
    if (column === undefined) return [];
    const values = valuesOf(column);
    const named = [...namesInTemplates(values, data)];
    const own = [...namesInTemplates(values, [column])].map((word) => `{${word}}`);
    const isSaid = isSpoken(inputTypes.map((type) => type.name));
    const codes = [LORA, WILDCARD, LINE_END, ...(isSaid ? [PLACEHOLDER] : [])].flatMap((code) =>
      values.flatMap((text) => code.exec(text)?.[0] ?? []).slice(0, 1),
    );
    const midjourney = values.flatMap((text) => midjourneyPart(text) ?? []).slice(0, 1);
    const marks = options.tags === 'plain' ? [] : marksIn(textsAmong(values), isSaid);
    const [spoken, before] = [new SpeakerNames(), new SpeakerNames()];
    for (const text of isSaid ? values : []) {
      spoken.take(spokenLine(text)?.voice);
      before.take(nameBefore(text));
    }
    const speaking = spoken.areSpeakers(LEAST_NAMES) ? spoken : before.comeAgain ? before : undefined;
    const asText = [...new Set([...own, ...codes, ...midjourney, ...marks])];
    // A mapping answers for a text only: for a table, an error prints the command with it before the cells are shown.
    const isText = options.delimiter === 'none' || isTrade(options.format);
    const isAnswered = isText ? options.map[name] !== undefined : options.tags !== undefined;
    return [
      ...(named.length === 0 ? [] : [toConfirm('columns', bracesText(column, named), dropped(...named))]),
      ...(asText.length === 0
        ? []
        : [
            (isAnswered ? said : toConfirm)(
              'columns',
              `cells of "${column}" have ${list(asText)}, which is sent as text`,
              isText ? mapped(name, column) : { tags: 'send' },
              ...(isDelimited(options.format) && values.some(isMidjourney)
                ? [or('to read parameters of Midjourney', { format: 'midjourney' })]
                : []),
              ...(marks.length > 0 ? [or('to send the text without it', { tags: 'plain' })] : []),
            ),
          ]),
      ...(options.tags === undefined && speaking !== undefined ? [namedTexts(column, speaking)] : []),
    ];
  });
}

const bracesText = (column: string, named: readonly string[]): string =>
  `cells of "${column}" have ${list(named.map((word) => `{${word}}`))}, which is sent as it stands; only a text set for all rows has templates`;

/** Names in front of one text alone may be words of it. */
const LEAST_NAMES = 2;

const namedTexts = (column: string, { text: names }: SpeakerNames): Guess =>
  toConfirm(
    'values',
    `cells of "${column}" begin with a name, which is sent with the text: ${names}; to send none, give names a column of their own`,
    { tags: 'send' },
  );
