import {
  parseAllDocuments,
  type Document,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
} from 'yaml';
import {messageOf} from '../../base/errors.js';
import {shorten} from '../../base/shorten.js';

/** First document of a text. */
export interface FirstYamlDocument {
  /** Undefined if the text has only comments. Its `errors` are those of this document. */
  readonly document: Document | undefined;
  /** True if the text continues after the document. */
  readonly hasMore: boolean;
}

/** Matches a text whose first document is a list or map in brackets, such as JSON. */
const IN_BRACKETS = /^(?:\s|#.*|---)*[[{]/;

/** Parses the first document of a text, as Go's YAML libraries do. What follows it need not be valid. */
export function parseFirstYamlDocument(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions,
): FirstYamlDocument {
  const [first, ...others] = parseAllDocuments(text, options) as readonly Document[];
  const [error] = first?.errors ?? [];
  // The parser reports what follows a document in brackets as an error of that document.
  if (error !== undefined && IN_BRACKETS.test(text)) {
    const [only] = parseAllDocuments(text.slice(0, error.pos[0]), options) as readonly Document[];
    if (only?.errors.length === 0) return {document: only, hasMore: true};
  }
  return {document: first, hasMore: others.length > 0};
}

/** Maximum length of an error, in which the parser may quote a token of any length. */
const LONGEST_ERROR = 200;

/** Returns the first line of a YAML parser's error, shortened. The other lines are an excerpt of the file. */
export function yamlErrorText(error: unknown): string {
  return shorten(messageOf(error).replace(/:?\n[^]*/, ''), LONGEST_ERROR);
}
