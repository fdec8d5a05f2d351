/** Command lines whose results differ from crictl's, by a pattern of their titles, with the reason. */
const KNOWN: readonly (readonly [title: RegExp, reason: string])[] = [
  [/(enum-name|text-number)\.json/, 'names the struct of the field, as crictl does since Go 1.26'],
  [/# foot/, 'keeps the place of a comment between two blank lines'],
  [/completion (zsh|fish)$/, "contains kcri's descriptions of commands and flags"],
];

/** Returns why kcri's result for a command line differs from crictl's, or undefined if it must be equal. */
export function knownDifference(title: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(title))?.[1];
}
