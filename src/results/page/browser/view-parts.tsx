// Small parts that several views share. Text only ever becomes text: nothing here takes markup.

import type { ButtonHTMLAttributes, ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { count } from '../../../options/text/printed-numbers.ts';
import { decoded } from './text.ts';

export type Children = ComponentChildren;
export type Choice = readonly [value: string, label: string];
export type ChoiceGroup = { readonly label: string; readonly options: readonly Choice[] };

/** The width of an element, now and when it changes. */
export function useWidth(box: RefObject<Element>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (box.current === null) return undefined;
    const watching = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watching.observe(box.current);
    setWidth(box.current.clientWidth);
    return () => watching.disconnect();
  }, []);
  return width;
}

/** Hears an event of the window. */
export function useWindow<Type extends keyof WindowEventMap>(
  types: readonly Type[],
  hear: (event: WindowEventMap[Type]) => void,
): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const own = (event: WindowEventMap[Type]) => latest.current(event);
    for (const type of types) addEventListener(type, own, { passive: type === 'scroll' });
    return () => types.forEach((type) => removeEventListener(type, own));
  }, []);
}

/** Opens the row or pair that the address names, now and when it changes. */
export function useNamed(open: (name: string) => void): void {
  const look = () => open(decoded(location.hash.slice(1)));
  useEffect(look, []);
  useWindow(['hashchange'], look);
}

/** `class` replaces the look of a button. */
export const Button = ({
  class: classes = 'button',
  children,
  ...attributes
}: ButtonHTMLAttributes & { class?: string | undefined }) => (
  <button type="button" class={classes} {...attributes}>
    {children}
  </button>
);

/** The colour of an outcome. */
export const toneOf = (outcome: string) => ({ '--tone': `var(--${outcome})` });

type CopyProps = { label: string; text: string; spoken?: string; class?: string };

/** Copies a text; the button says so for a moment. `spoken`: the label for a screen reader. */
export function Copy({ label, text, spoken, class: classes }: CopyProps) {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
      setTimeout(() => say(''), 1_200);
    } catch {
      // A browser may give the clipboard to no page of a folder.
      globalThis.prompt('Copy this text:', text);
    }
  };
  return (
    <Button
      class={classes}
      aria-label={said === '' ? spoken : undefined}
      title={text.slice(0, 200)}
      onClick={() => void copy()}
    >
      {said || label}
    </Button>
  );
}

/** Saves a file that the page made. */
export function save(name: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

type NewTabProps = { href: string; text: string; class?: string };

export const NewTab = ({ href, text, class: classes }: NewTabProps) => (
  <a class={classes} href={href} target="_blank" rel="noopener">
    {text}
  </a>
);

export type Term = readonly [name: Children, value: Children, note?: Children];
type TermsProps = { id?: string; class?: string; entries: readonly Term[] };

/** Names and their values. */
export const Terms = ({ id, class: classes, entries }: TermsProps) => (
  <dl id={id} class={classes} tabindex={id !== undefined && innerWidth <= 640 ? 0 : undefined}>
    {entries.map(([name, value, note], nth) => (
      <div key={nth}>
        <dt>{name}</dt>
        <dd>
          {value}
          {note && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
);

type SectionProps = { title: string; isEmpty?: boolean; head?: 'h2' | 'h3'; children?: Children };

export const Section = ({ title, isEmpty = false, head: Head = 'h3', children }: SectionProps) =>
  isEmpty ? null : (
    <section>
      <Head>{title}</Head>
      {children}
    </section>
  );

/** `outcome` colours the cell. */
type LineCell = { text: Children; outcome?: string };
export type Line = readonly [head: string, ...cells: LineCell[]];

/** A table whose lines have a head. */
export const Lines = ({ heads, lines }: { heads: readonly Children[]; lines: readonly Line[] }) => (
  <table class="lines">
    <thead>
      <tr>
        {heads.map((head, nth) =>
          head === '' ? (
            <td key={nth} />
          ) : (
            <th key={nth} scope="col">
              {head}
            </th>
          ),
        )}
      </tr>
    </thead>
    <tbody>
      {lines.map(([head, ...cells], line) => (
        <tr key={line}>
          <th scope="row">{head}</th>
          {cells.map(({ text, outcome = '' }, nth) => (
            <td key={nth} class="tone" style={toneOf(outcome)}>
              {text}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

type SearchProps = { label: string; text: string; onText: (text: string) => void };

/** The key `/` goes to it. */
export function Search({ label, text, onText }: SearchProps) {
  const box = useRef<HTMLInputElement>(null);
  useWindow(['keydown'], (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select');
    if (event.key !== '/' || isTyping || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    box.current?.focus();
  });
  return (
    <input
      type="search"
      id="search"
      ref={box}
      placeholder={label}
      aria-label={label}
      title="key /"
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value.trimStart())}
    />
  );
}

export type Chip = readonly [name: string, label: string, many: number];
type ChipsProps = {
  label: string;
  chips: readonly Chip[];
  chosen: string;
  choose: (name: string) => void;
  isOutcome?: boolean;
};

/** A choice of one, with how many each would show. */
export const Chips = ({ label, chips, chosen, choose, isOutcome = false }: ChipsProps) => (
  <span id="outcomes" class="wrap" role="group" aria-label={label}>
    {chips.map(([name, text, many]) => (
      <Button
        key={name}
        class="button chip"
        data-choice={name}
        aria-pressed={name === chosen}
        onClick={() => choose(name)}
      >
        {isOutcome && name !== '' && <i style={toneOf(name)} />}
        {text} <small>{count(many)}</small>
      </Button>
    ))}
  </span>
);

type ChoicesProps = {
  id: string;
  label: string;
  options: readonly (Choice | ChoiceGroup)[];
  value: string;
  onValue: (value: string) => void;
};

export const Choices = ({ id, label, options, value, onValue }: ChoicesProps) => (
  <select
    id={id}
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => onValue(currentTarget.value)}
  >
    {options.map((option) =>
      'label' in option ? (
        <optgroup key={option.label} label={option.label}>
          {option.options.map(optionOf)}
        </optgroup>
      ) : (
        optionOf(option)
      ),
    )}
  </select>
);

const optionOf = ([value, label]: Choice) => (
  <option key={value} value={value}>
    {label}
  </option>
);
