/** Functions that the library has, but not as Kubernetes has them, with the names of those that replace them. */
export const OWN_NAMES = {has: '__has', matches: '__matches'};

/** Strings, comments and identifiers of an expression; a dot before an identifier makes it a method. */
const TOKENS =
  /[rRbB]{0,2}(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|\.?\s*[A-Za-z_][A-Za-z0-9_]*/g;

const REPLACED: Readonly<Record<string, string>> = {
  has: OWN_NAMES.has,
  '.matches': `.${OWN_NAMES.matches}`,
};

/** Returns an expression with the own functions in place of the library's. */
export function withOwnFunctions(expression: string): string {
  return expression.replaceAll(TOKENS, (token, offset: number) => {
    const own = REPLACED[token.replace(/\s/g, '')];
    return own !== undefined && /^\s*\(/.test(expression.slice(offset + token.length)) ? own : token;
  });
}

/** Returns a message with the names that the expression has. */
export function withPublicNames(message: string): string {
  return message.replaceAll(OWN_NAMES.has, 'has').replaceAll(OWN_NAMES.matches, 'matches');
}
