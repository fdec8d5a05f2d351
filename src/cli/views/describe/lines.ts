import {byKey} from '../../../base/compare.js';
import {alignTabs} from '../../../format/tabwriter.js';

/** What kubectl writes where there is nothing. */
export const NONE = '<none>';

/** The measures of what kubectl describes (describe.go tabbedString). */
const LAYOUT = {minWidth: 0, padding: 2};

/** Lines whose tabs end cells, as text with a line end behind each. */
export function alignedText(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${alignTabs(lines.join('\n'), LAYOUT)}\n`;
}

/** The lines, so many levels deeper. */
export function indented(levels: number, lines: readonly string[]): readonly string[] {
  return lines.map((line) => '  '.repeat(levels) + line);
}

/** A title and values below each other beside it. */
export function beside(title: string, values: readonly string[]): readonly string[] {
  const [first = NONE, ...rest] = values;
  return [`${title}:\t${first}`, ...rest.map((value) => `\t${value}`)];
}

/** `key=value` in the order of the keys. */
export function labelTexts(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  return sorted(labels).map(([key, value]) => `${key}=${value}`);
}

/** How much of an annotation kubectl shows in a line (maxAnnotationLen). */
const MAX_ANNOTATION_LENGTH = 140;
/** What kubectl keeps to itself: the object as it was applied. */
const HIDDEN_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations, one a line; a long one below its key. */
export function annotationTexts(annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  return sorted(annotations)
    .filter(([key]) => key !== HIDDEN_ANNOTATION)
    .flatMap(([key, value]) => annotationLines(key, value.replace(/\n$/, '')));
}

function annotationLines(key: string, value: string): readonly string[] {
  const isShort = key.length + value.length + 2 <= MAX_ANNOTATION_LENGTH && !value.includes('\n');
  if (isShort) return [`${key}: ${value}`];
  return [`${key}:`, ...value.split('\n').map((line) => `  ${shortened(line, MAX_ANNOTATION_LENGTH - 2)}`)];
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

export function sorted<T>(map: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(map).sort(byKey);
}
