import {Lexer} from 'yaml';

/** Readers of values which may have several lines, and the indentation that these need. */
interface Readers {
  indentNext: number;
  parseFlowCollection(): Generator<string, unknown>;
  parseQuotedScalar(): Generator<string, unknown>;
}

/**
 * Creates a lexer that accepts lines without indentation inside of brackets and quotes, as go-yaml does. YAML 1.2, and
 * with it the library, requires an indentation.
 */
export function createLenientLexer(): Lexer {
  const lexer = new Lexer();
  const readers = lexer as unknown as Readers;
  for (const name of ['parseFlowCollection', 'parseQuotedScalar'] as const) {
    const read = readers[name].bind(lexer);
    readers[name] = function* () {
      const {indentNext} = readers;
      readers.indentNext = 0;
      const next = yield* read();
      readers.indentNext = indentNext;
      return next;
    };
  }
  return lexer;
}
