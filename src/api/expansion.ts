import {KcriError} from '../base/errors.js';

/** Maximum size of one argument or environment variable in bytes, without its terminator (MAX_ARG_STRLEN). */
const MAX_EXPANDED_BYTES = 128 * 1024 - 1;

/** An expanded text that no process can be given. */
export class ExpansionError extends KcriError {
  readonly code = 'EXPANSION';

  constructor() {
    super(`argument list too long: the expanded value exceeds ${MAX_EXPANDED_BYTES} bytes`, {
      hint: 'use fewer or shorter references $(NAME); a file of a volume can hold more',
    });
  }
}

/**
 * Replaces `$(NAME)` by the value of the variable (third_party/forked/golang/expansion). `$$` is one dollar sign;
 * unknown or unclosed references remain unchanged. Takes time proportional to the lengths of the text and the result.
 *
 * @throws ExpansionError if the result of an expansion is larger than execve(2) accepts.
 */
export function expandVariables(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  if (!text.includes('$')) return text;
  const parts: string[] = [];
  let size = 0;
  const append = (part: string): void => {
    size += Buffer.byteLength(part);
    if (size > MAX_EXPANDED_BYTES) throw new ExpansionError();
    parts.push(part);
  };
  let end = 0;
  for (const {start, length, replacement} of references(text, variables)) {
    append(text.slice(end, start));
    append(replacement);
    end = start + length;
  }
  if (end === 0) return text;
  append(text.slice(end));
  return parts.join('');
}

/** Part of a text to replace. */
interface Reference {
  readonly start: number;
  readonly length: number;
  readonly replacement: string;
}

function* references(
  text: string,
  variables: Pick<ReadonlyMap<string, string>, 'get'>,
): Generator<Reference> {
  const last = text.lastIndexOf(')');
  for (let start = text.indexOf('$'); start !== -1;) {
    let length = 1;
    if (text[start + 1] === '$') {
      length = 2;
      yield {start, length, replacement: '$'};
    } else if (text[start + 1] === '(' && start < last) {
      length = text.indexOf(')', start) + 1 - start;
      const value = variables.get(text.slice(start + 2, start + length - 1));
      if (value !== undefined) yield {start, length, replacement: value};
    }
    start = text.indexOf('$', start + length);
  }
}
