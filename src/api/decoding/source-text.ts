import {shorten} from '../../base/shorten.js';
import type {ManifestIssue, ManifestPosition} from './manifest-issue.js';
import type {SyntaxProblem} from './parse-yaml.js';

/** Maximum length of a message, which may quote a value of any length. */
const LONGEST_MESSAGE = 1000;

/** A range of offsets of a text; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A file's text that converts offsets into positions. */
export class SourceText {
  readonly #file: string;
  readonly #hidden: readonly TextRange[];
  readonly #lines: readonly string[];
  readonly #starts: readonly number[];

  /** Creates a text whose lines that overlap a `hidden` range are never shown. */
  constructor(file: string, content: string, hidden: readonly TextRange[] = []) {
    this.#file = file;
    this.#hidden = hidden;
    this.#lines = content.split('\n');
    let next = 0;
    this.#starts = this.#lines.map((line) => {
      const start = next;
      next += line.length + 1;
      return start;
    });
  }

  /** Creates the issue at an offset of the text, with its line and a shortened message. */
  createIssue(offset: number, path: string, message: string): ManifestIssue {
    const index = this.#lineAt(offset);
    const source = this.#isHidden(index) ? undefined : this.#line(index).replace(/\r$/, '');
    const shown = shorten(message, LONGEST_MESSAGE);
    return {file: this.#file, ...this.#positionOf(offset), path, message: shown, source};
  }

  /** Creates the issue of a syntax error; text that may be secret is not quoted. */
  createSyntaxIssue({offset, message, duplicateOf}: SyntaxProblem): ManifestIssue {
    const isHidden = this.#isHidden(this.#lineAt(offset));
    const shown = isHidden ? message.replace(/:?\s*".*$/s, '') : message;
    return this.createIssue(offset, '', `yaml: ${shown}${this.#describeFirst(duplicateOf)}`);
  }

  #describeFirst(offset: number | undefined): string {
    if (offset === undefined) return '';
    const {line, column} = this.#positionOf(offset);
    return ` (line ${line}, column ${column})`;
  }

  #positionOf(offset: number): ManifestPosition {
    const index = this.#lineAt(offset);
    return {line: index + 1, column: offset - (this.#starts[index] ?? 0) + 1};
  }

  #isHidden(index: number): boolean {
    const start = this.#starts[index] ?? 0;
    const end = start + this.#line(index).length;
    return this.#hidden.some((range) => range.start <= end && start < range.end);
  }

  #line(index: number): string {
    return this.#lines[index] ?? '';
  }

  /** Returns the index of the last line that starts at or before the offset. */
  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
