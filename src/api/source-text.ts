import type {ManifestIssue} from './manifest-issue.js';

/** A file's text by line, to turn an offset into a place that a person can find. */
export class SourceText {
  readonly #file: string;
  readonly #lines: readonly string[];
  readonly #starts: readonly number[];

  constructor(file: string, content: string) {
    this.#file = file;
    this.#lines = content.split('\n');
    let next = 0;
    this.#starts = this.#lines.map((line) => {
      const start = next;
      next += line.length + 1;
      return start;
    });
  }

  /** The issue at an offset of the text, with its line. */
  issue(offset: number, path: string, message: string): ManifestIssue {
    const index = this.#lineAt(offset);
    const source = (this.#lines[index] ?? '').replace(/\r$/, '');
    const column = offset - (this.#starts[index] ?? 0) + 1;
    return {file: this.#file, line: index + 1, column, path, message, source};
  }

  /** The index of the last line that starts at or before the offset. */
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
