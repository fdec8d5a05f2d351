import {byKey} from '../../../base/compare.js';
import {alignTabs} from '../../../format/tabwriter.js';

/** Placeholder of kubectl for empty values. */
export const NONE = '<none>';

/** Layout of `kubectl describe` (describe.go tabbedString). */
const LAYOUT = {minWidth: 0, padding: 2};

/** Aligns lines with tab-separated cells. */
export function alignLines(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${alignTabs(lines.join('\n'), LAYOUT)}\n`;
}

/** Indents lines by a number of levels. */
export function indentLines(levels: number, lines: readonly string[]): readonly string[] {
  return lines.map((line) => '  '.repeat(levels) + line);
}

/** Returns a title with its values in the column next to it. */
export function besideTitle(title: string, values: readonly string[]): readonly string[] {
  const [first = NONE, ...rest] = values;
  return [`${title}:\t${first}`, ...rest.map((value) => `\t${value}`)];
}

/** Returns `key=value` lines, sorted by key. */
export function labelTexts(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  return sortedEntries(labels).map(([key, value]) => `${key}=${value}`);
}

/** Maximum length of an annotation on one line (maxAnnotationLen). */
const MAX_ANNOTATION_LENGTH = 140;
/** Annotation that kubectl hides: the last applied configuration. */
const HIDDEN_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns one line per annotation; long values are on a separate line. */
export function annotationTexts(annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  return sortedEntries(annotations)
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

export function sortedEntries<T>(map: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(map).sort(byKey);
}
