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

function addComment(document: Document, path: readonly PathSegment[], comment: string): void {
  const node = document.getIn(path, true) as
    | {comment?: string; commentBefore?: string; value?: unknown}
    | undefined;
  if (node === undefined) return;
  if ('value' in node) node.comment = comment;
  else node.commentBefore = comment;
}
