import {shorten} from '../../../../base/shorten.js';
import {escapeToLine} from '../../../../format/escape-controls.js';
import type {Json} from '../../../../format/json.js';

/** Key or index of a member. */
export type PathSegment = string | number;

/** Input from which a value of a call was made. */
export interface ValueSource {
  /**
   * `manifest`: a field of the Pod; `default`: one that has the value of the API's default; `configuration`: a field of the
   * kubelet's configuration; `node`: a fact about the machine or its runtime; `object`: an object that the Pod refers to;
   * `run`: what this run of the pod decides, such as the number of restarts; `kubelet`: a constant of the kubelet.
   */
  readonly kind: 'manifest' | 'default' | 'configuration' | 'node' | 'object' | 'run' | 'kubelet';
  /** Path or name. `[*]` stands for every member of a list. */
  readonly name: string;
  /** Absent for a field that is not set, and where the value is that of the call. */
  readonly value?: Json;
}

/** Explanation of a value: its inputs, and a text that names them. */
export interface Provenance {
  readonly text: string;
  readonly sources: readonly ValueSource[];
}

/** Source and its text. */
export interface Named {
  readonly source: ValueSource;
  readonly text: string;
}

const LONGEST_VALUE = 60;
/** Number of inputs of one kind that a text names. */
const MAX_SHOWN = 10;

/** Formats a value for an explanation: short, and without quotes where they mean nothing. */
function formatValue(value: Json): string {
  const text = typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  return escapeToLine(shorten(text, LONGEST_VALUE));
}

/** Returns a source whose text is its name and value. */
export function named(source: ValueSource, name = source.name): Named {
  const {kind, value} = source;
  const text = value === undefined ? name : `${name} ${formatValue(value)}`;
  return {source, text: kind === 'default' ? `${text} (default)` : text};
}

/** Returns a source with another text. */
export function worded({source}: Named, text: string): Named {
  return {source, text};
}

/** Part of an explanation: text, inputs, or another explanation. */
type Part = string | number | Named | Provenance | readonly Named[];

/** Makes an explanation of a template, so that its text and its inputs are the same. */
export function because(texts: TemplateStringsArray, ...parts: readonly Part[]): Provenance {
  const sources: ValueSource[] = [];
  const words = parts.map((part) => {
    if (typeof part !== 'object') return String(part);
    if ('sources' in part) {
      sources.push(...part.sources);
      return part.text;
    }
    const all: readonly Named[] = 'source' in part ? [part] : part;
    sources.push(...all.map(({source}) => source));
    const more = all.length > MAX_SHOWN ? `, and ${all.length - MAX_SHOWN} more` : '';
    return `${all
      .slice(0, MAX_SHOWN)
      .map(({text}) => text)
      .join(', ')}${more}`;
  });
  return {text: texts.map((text, index) => text + (words[index] ?? '')).join(''), sources};
}

/** Joins the segments of a path: `metadata.labels[app.io/name]`, `ports[0].hostPort`. */
export function joinPath(segments: readonly PathSegment[]): string {
  return segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number' || segment === '*' || !/^[\w-]+$/.test(segment))
      return `${path}[${segment}]`;
    return path === '' ? segment : `${path}.${segment}`;
  }, '');
}
