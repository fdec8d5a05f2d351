import {randomUUID} from 'node:crypto';
import type {ChalkInstance} from 'chalk';
import type {Document} from 'yaml';
import {escapeToLine} from '../../format/escape-controls.js';
import type {Json} from '../../format/json.js';
import {joinPath, leavesOf, type ExplainedField, type PathSegment} from '../../kubelet/index.js';

/** Explanation of a field for programs. */
export interface ExplanationData {
  readonly field: string;
  readonly text: string;
  readonly sources: ExplainedField['sources'];
}

/** Returns explanations as data. */
export function explanationData(fields: readonly ExplainedField[]): readonly ExplanationData[] {
  return fields.map(({path, text, sources}) => ({
    field: joinPath(path),
    text,
    sources: sources.filter(({name}) => name !== ''),
  }));
}

/** Returns lines with the leaves of a message and their explanations: `cpu_shares: 51  # resources.requests.cpu 50m`. */
export function messageLines(
  message: Json,
  fields: readonly ExplainedField[],
  chalk: ChalkInstance,
): readonly string[] {
  const texts = new Map(fields.map(({path, text}) => [JSON.stringify(path), text]));
  return leavesOf(message).map(({path, value}) => {
    const line = escapeToLine(`${joinPath(path)}: ${leafText(value)}`);
    const text = texts.get(JSON.stringify(path));
    return text === undefined ? line : `${line}  ${chalk.dim(`# ${escapeToLine(text)}`)}`;
  });
}

function leafText(value: Json): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Explanations of the fields of a part of a document. */
export interface PartExplanations {
  /** Path of the part. */
  readonly at: readonly PathSegment[];
  readonly fields: readonly ExplainedField[];
}

/** Formats data as YAML with explanations as comments: behind scalars, and before lists. */
export async function explainedYaml(data: unknown, parts: readonly PartExplanations[]): Promise<string> {
  const {Document} = await import('yaml');
  // Anchors would hide the comments of what several calls share.
  const document = new Document(data, {aliasDuplicateObjects: false});
  for (const {at, fields} of parts)
    for (const {path, text} of fields) addComment(document, [...at, ...path], ` ${escapeToLine(text)}`);
  return document.toString({lineWidth: 0}).trimEnd();
}

/** A line of a document, with the explanation of its value if there is one. */
export interface ExplainedLine {
  readonly text: string;
  readonly origin?: string;
}

/** Formats data as lines of YAML with explanations beside them; a list has its explanation at its first line. */
export async function explainedLines(
  data: unknown,
  parts: readonly PartExplanations[],
): Promise<readonly ExplainedLine[]> {
  const texts = parts.flatMap(({fields}) => fields.map(({text}) => text));
  // Values cannot contain it: what they contain does not end with a mark that they cannot know.
  const mark = `kcri-${randomUUID()}-`;
  let index = 0;
  const marked = parts.map(({at, fields}) => ({
    at,
    fields: fields.map((field) => ({...field, text: `${mark}${index++}`})),
  }));
  const comment = new RegExp(`^(.*?) ?#  ?${mark}(\\d+)$`);
  const lines: ExplainedLine[] = [];
  // A comment of its own line is about the next one.
  let before: string | undefined;
  for (const line of (await explainedYaml(data, marked)).split('\n')) {
    const [, text = line, number] = comment.exec(line) ?? [];
    const origin = number === undefined ? before : escapeToLine(texts[Number(number)] ?? '');
    before = undefined;
    if (number !== undefined && text.trim() === '') before = origin;
    else lines.push({text: escapeToLine(text), ...(origin !== undefined && {origin})});
  }
  return lines;
}

function addComment(document: Document, path: readonly PathSegment[], comment: string): void {
  const node = document.getIn(path, true) as
    | {comment?: string; commentBefore?: string; value?: unknown}
    | undefined;
  if (node === undefined) return;
  if ('value' in node) node.comment = comment;
  else node.commentBefore = comment;
}
